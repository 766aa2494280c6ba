/// What came of a batch.
package struct Decision: Equatable, Sendable {
    package let effects: Effects
    /// One for each command, in their order.
    package let answers: [Answer]

    package init(effects: Effects, answers: [Answer]) {
        self.effects = effects
        self.answers = answers
    }
}

/// Decides `commands` strictly in their order, each on what those before it left.
///
/// A pure function of its arguments: it knows no clock, no randomness and no database. A batch
/// comes to the same as its commands one by one. A command that is refused changes nothing; a
/// payment's refusal is remembered with its key. A command of which the snapshot lacks a row is not
/// decided.
///
/// - Parameter snapshot: At least the rows of the commands' `Footprint`.
package func apply(_ commands: [Command], to snapshot: Snapshot) -> Decision {
    var books = Books(snapshot)
    let answers = commands.map { command in
        let time = command.acceptedAt
        if snapshot.isHeld(for: command) { return Answer.held }
        return switch command.action {
        case .openWallet(let open): open.decide(on: &books, at: time)
        case .createSession(let create): create.decide(on: &books, at: time)
        case .lock(let lock): lock.decide(on: &books, at: time)
        case .unlock(let unlock): unlock.decide(on: &books, at: time)
        case .cancel(let cancel): cancel.decide(on: &books, at: time)
        case .rotate(let rotate): rotate.decide(on: &books, at: time)
        case .send(let send): send.decide(on: &books, at: time)
        case .refund(let refund): refund.decide(on: &books, at: time)
        case .expire(let session): expire(session, on: &books, at: time)
        case .probe: probe(&books, at: time)
        }
    }
    return Decision(effects: books.effects, answers: answers)
}
