package import GotchuCore

/// A command that changes the ledger.
///
/// Deciding is a pure function of the rows and the time: no clock, no randomness, no database. A
/// command throws before its first change.
package protocol LedgerCommand: Sendable {
    associatedtype Outcome: Sendable

    /// The stored name, for example `pay`.
    static var name: String { get }

    /// Adds the rows that the command reads or changes to the footprint.
    ///
    /// - Parameter rows: The rows loaded so far; `nil` in the first round. If these show that more
    ///   rows are needed, the command sets `needsAnotherRound`.
    func touch(_ footprint: inout Footprint, knowing rows: Snapshot?)

    func decide(on books: inout Books, at time: Timestamp) throws(Refusal) -> Outcome

    /// The user whose daily budget the new rows of the command use; `nil` for a command that is
    /// never refused for it, such as a payment.
    var spender: UserID? { get }
}

extension LedgerCommand {
    package var spender: UserID? { nil }
}

/// A command with an idempotency key. Its outcome is stored as canonical JSON, so that every replay
/// returns the same bytes.
package protocol KeyedCommand: LedgerCommand where Outcome: Codable {
    /// The record stored with the answer if the command posts no transfer; otherwise the record of
    /// its first transfer is stored.
    var record: RecordID { get }
}

/// A command whose outcome is a record id. The id is stored; a replay shows the record's current
/// state.
package protocol RecordCommand: KeyedCommand where Outcome == RecordID {}

/// The identity of a request with an idempotency key.
package struct KeyedRequest: Equatable, Sendable {
    package let user: UserID
    package let key: IdempotencyKey
    package let fingerprint: Fingerprint
    /// The request id, repeated in the answer.
    package let id: String
    /// A Boolean that is true if a refusal for an unknown session is stored; otherwise the session
    /// is looked up again each time.
    var remembersUnknown = true
    /// A Boolean that is true if the user has spent the day's budget. Then no refusal is stored.
    var isOverBudget = false

    package init(user: UserID, key: IdempotencyKey, fingerprint: Fingerprint, id: String) {
        self.user = user
        self.key = key
        self.fingerprint = fingerprint
        self.id = id
    }

    func answerKey(_ command: String) -> Answer.Key {
        Answer.Key(user: user, command: command, key: key)
    }
}

/// The answer to a request with a key.
package struct CommandReply<Outcome: Sendable>: Sendable {
    package let outcome: Result<Outcome, Refusal>
    /// The id of the request that was decided; for a replay, the original request.
    package let requestID: String
    package let isReplay: Bool
    /// A Boolean that is true if the answer is stored.
    package let isRemembered: Bool
    /// The size of the rows that the decision added, in bytes.
    var newBytes = 0
}

extension CommandReply {
    init(_ outcome: Result<Outcome, Refusal>, requestID: String, isRemembered: Bool = false) {
        self.init(
            outcome: outcome,
            requestID: requestID,
            isReplay: false,
            isRemembered: isRemembered
        )
    }
}

extension CommandReply where Outcome: Decodable {
    /// Creates the reply to a replay from the stored answer.
    ///
    /// - Throws: `LedgerError` with `corrupt` if it cannot be read.
    package init(_ answer: Answer) throws(LedgerError) {
        let outcome: Result<Outcome, Refusal> =
            switch answer.decision {
            case .outcome(let json): .success(try decoded(from: json))
            case .refused(let refusal): .failure(refusal)
            }
        self.init(
            outcome: outcome,
            requestID: answer.requestID,
            isReplay: true,
            isRemembered: true
        )
    }
}
