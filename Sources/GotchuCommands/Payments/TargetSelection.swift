import GotchuAPI
import GotchuCore
import LocalAPI
import Synchronization

/// Selects the request to pay: the only one that is near enough, or the one that the person chooses
/// from a list.
final class TargetSelection: Sendable {
    fileprivate struct State {
        var list = PresenceList()
        /// The time since which the pick is ambiguous; after the questions, since their end.
        var ambiguousSince: ContinuousClock.Instant?
        var hasAsked = false
        /// The number of candidates at the last event about which the payment server has not
        /// answered.
        var unresolved = 0
    }

    /// The time for which several requests may be equally near before the selection ends. While the
    /// payer moves to a till, the nearest one needs a moment to lead.
    fileprivate static let ambiguityLimit = Duration.seconds(2)
    /// The time after which the payment server is asked about the candidates that have no answer.
    /// In most cases gotchud has asked by then.
    fileprivate static let questionDelay = Duration.milliseconds(500)
    /// The maximum number of candidates that are asked about.
    fileprivate static let questionLimit = 3

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
            try await follower.follow { try await self.apply($0, client) }
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

    /// Applies an event. If the pick stays ambiguous, asks the payment server once about the
    /// candidates that have no answer.
    ///
    /// - Returns: The selected presence, or the ambiguous ones; `nil` while the selection goes on.
    private func apply(_ event: Event, _ client: LocalClient) async throws -> PresenceList.Pick? {
        let (pick, eids) = state.withLock { $0.apply(event, reach) }
        guard !eids.isEmpty else { return pick }
        // An answer changes the verdicts of the next events. A failed call is no answer.
        await withDiscardingTaskGroup { group in
            for eid in eids { group.addTask { _ = try? await client.resolve(eid) } }
        }
        state.withLock { if $0.ambiguousSince != nil { $0.ambiguousSince = .now } }
        return nil
    }

    /// Lets the person choose one of several requests. Throws if there is no terminal.
    private func choose(_ several: [PresenceView], _ output: Output) throws -> PresenceView {
        let question = Question(output: output)
        // Without an answer, there is no amount and no payee to choose by.
        let known = several.filter { $0.session != nil }
        guard question.isInteractive, !known.isEmpty else { throw ambiguous }
        output.message("It is not certain which request is meant:")
        for (number, presence) in zip(1..., known) {
            guard let session = presence.session else { continue }
            let payee = session.payee.quotedName
            output.message("  \(number)  \(session.amount) to \(payee)\(session.purpose)")
        }
        if known.count < several.count {
            output.message("More is near that the payment server has not answered about yet.")
        }
        guard let number = question.choose("Which one?", of: known.count) else {
            throw CommandFailure.negative("Nothing was paid.", next: "gotchu-ctl pay")
        }
        return known[number - 1]
    }

    private var ambiguous: CommandFailure {
        guard state.withLock({ $0.unresolved }) == 0 else {
            return .tryAgain(
                "The payment server has not answered yet about everything that is as near, so "
                    + "nothing was picked. Nothing was paid.",
                next: "gotchu-ctl scan --explain"
            )
        }
        return .negative(
            "Several requests are equally near, so none was picked. Move closer to yours, or name "
                + "it.",
            next: "gotchu-ctl scan"
        )
    }
}

extension TargetSelection.State {
    /// Applies an event.
    ///
    /// - Returns: The pick, if the selection ends; and the EIDs to ask the payment server about.
    fileprivate mutating func apply(
        _ event: Event,
        _ reach: PresenceList.Reach
    ) -> (pick: PresenceList.Pick?, questions: [EID]) {
        _ = list.apply(event)
        let pick = list.pick(reach: reach)
        guard case .ambiguous(let several) = pick else {
            ambiguousSince = nil
            unresolved = 0
            return (pick == .nothing ? nil : pick, [])
        }
        let since = ambiguousSince ?? .now
        ambiguousSince = since
        let eids = several.filter { $0.session == nil }.map(\.eid)
        unresolved = eids.count
        let elapsed = since.duration(to: .now)
        if !hasAsked, !eids.isEmpty, elapsed >= TargetSelection.questionDelay {
            hasAsked = true
            return (nil, Array(eids.prefix(TargetSelection.questionLimit)))
        }
        if hasAsked, several.count == 1, several[0].verdict != .ambiguous {
            // No other is near. The payment asks about it again, and says why there is no answer.
            return (elapsed >= TargetSelection.questionDelay ? .one(several[0]) : nil, [])
        }
        return (elapsed >= TargetSelection.ambiguityLimit ? pick : nil, [])
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
