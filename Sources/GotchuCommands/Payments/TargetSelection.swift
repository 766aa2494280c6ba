import GotchuAPI
import LocalAPI
import Synchronization

/// Selects the request to pay: the only one that is near enough, or the one that the person chooses
/// from a list.
final class TargetSelection: Sendable {
    private struct State {
        var list = PresenceList()
        var ambiguousSince: ContinuousClock.Instant?
    }

    /// The time for which several requests may be equally near before the selection ends. While the
    /// payer moves to a till, the nearest one needs a moment to lead.
    private static let ambiguityLimit = Duration.seconds(2)

    private let reach: PresenceList.Reach
    private let state = Mutex(State())

    init(reach: PresenceList.Reach) {
        self.reach = reach
    }

    /// Returns the selected presence; otherwise throws a failure with the next step.
    func pick(
        _ client: LocalClient,
        _ output: Output,
        limit: Duration
    ) async throws -> PresenceView {
        output.message("Hold this device against the till …")
        let follower = EventFollower(client: client, output: output, needsPresences: true)
        let outcome = try await race(limit: limit) {
            try await follower.follow { self.apply($0) }
        }
        switch outcome {
        case .finished(.one(let presence)): return presence
        case .finished(.ambiguous(let several)): return try choose(several, output)
        case .finished(.nothing), .timedOut:
            if state.withLock({ $0.ambiguousSince }) != nil { throw ambiguous }
            let failure = CommandFailure.tryAgain(
                "Nothing came near enough within \(limit.wholeSecondsText).",
                next: "gotchu-ctl scan --explain"
            )
            throw await client.receptionFailure(orElse: failure)
        case .interrupted:
            throw CommandFailure.negative("Nothing was paid.", next: "gotchu-ctl pay")
        }
    }

    /// Applies an event.
    ///
    /// - Returns: The selected presence, or the ambiguous ones; `nil` while the selection goes on.
    private func apply(_ event: Event) -> PresenceList.Pick? {
        state.withLock { state in
            _ = state.list.apply(event)
            let pick = state.list.pick(reach: reach)
            switch pick {
            case .nothing:
                state.ambiguousSince = nil
                return nil
            case .one: return pick
            case .ambiguous:
                let since = state.ambiguousSince ?? .now
                state.ambiguousSince = since
                guard since.duration(to: .now) >= Self.ambiguityLimit else { return nil }
                return state.list.pick(reach: reach, isLate: true)
            }
        }
    }

    /// Lets the person choose one of several requests. Throws if there is no terminal.
    private func choose(_ several: [PresenceView], _ output: Output) throws -> PresenceView {
        let question = Question(output: output)
        // An EID that the payment server does not know cannot be paid: it may be forged.
        let several = several.filter { $0.session != nil }
        guard question.isInteractive, !several.isEmpty else { throw ambiguous }
        output.message("It is not certain which request is meant:")
        for (number, presence) in zip(1..., several) {
            guard let session = presence.session else { continue }
            let payee = session.payee.quotedName
            output.message("  \(number)  \(session.amount) to \(payee)\(session.purpose)")
        }
        guard let number = question.choose("Which one?", of: several.count) else {
            throw CommandFailure.negative("Nothing was paid.", next: "gotchu-ctl pay")
        }
        return several[number - 1]
    }

    private var ambiguous: CommandFailure {
        .negative(
            "Several requests are equally near, so none was picked. Move closer to yours, or name "
                + "it.",
            next: "gotchu-ctl scan"
        )
    }
}

extension ResolvedSession {
    /// The memo and the kind of payment, to follow amount and payee:
    /// ` for “Dinner”, one of 3 shares of a bill (1 paid)`. The server does not tell payers the
    /// bill's total.
    var purpose: String {
        let memo = self.memo.map { " for \($0.quotedName)" } ?? ""
        guard let places else { return memo }
        switch places.kind {
        case Places.split:
            return "\(memo), one of \(places.places) shares of a bill (\(places.paid) paid)"
        case Places.entry: return "\(memo), which enters you in the contest"
        // A kind of a newer server.
        default: return memo
        }
    }
}
