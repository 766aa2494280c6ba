import GotchuAPI
import LocalAPI
import Synchronization

/// Waits until exactly one request for payment is near enough.
final class Picking: Sendable {
    private struct State {
        var board = PresenceBoard()
        var ambiguousSince: ContinuousClock.Instant?
    }

    /// For how long several may be near before nothing is picked: on the way to a till the nearest
    /// takes a moment to lead.
    private static let ambiguityLimit = Duration.seconds(2)

    private let reach: PresenceBoard.Reach
    private let state = Mutex(State())

    init(reach: PresenceBoard.Reach) {
        self.reach = reach
    }

    /// Returns the one, or throws what a person can do.
    func pick(
        _ client: LocalClient,
        _ output: Output,
        limit: Duration
    ) async throws -> PresenceView {
        output.talk("Hold this device against the till …")
        let follower = EventFollower(client: client, output: output)
        let outcome = try await race(limit: limit) {
            try await follower.follow { self.take($0) }
        }
        switch outcome {
        case .finished(.one(let presence)): return presence
        case .finished(.ambiguous): throw ambiguous
        case .finished(.nothing), .timedOut:
            if state.withLock({ $0.ambiguousSince }) != nil { throw ambiguous }
            let usual = CommandFailure.tryAgain(
                "Nothing came near enough within \(limit.wholeSecondsText).",
                next: "gotchu-ctl scan --explain"
            )
            throw await client.silence(orElse: usual)
        case .interrupted:
            throw CommandFailure.negative("Nothing was paid.", next: "gotchu-ctl pay")
        }
    }

    /// Takes an event in; returns once it is clear whom the person means, or that it is not.
    private func take(_ event: Event) -> PresenceBoard.Pick? {
        state.withLock { state in
            _ = state.board.apply(event)
            let pick = state.board.pick(reach: reach)
            switch pick {
            case .nothing:
                state.ambiguousSince = nil
                return nil
            case .one: return pick
            case .ambiguous:
                let since = state.ambiguousSince ?? .now
                state.ambiguousSince = since
                return since.duration(to: .now) >= Self.ambiguityLimit ? pick : nil
            }
        }
    }

    private var ambiguous: CommandFailure {
        .negative(
            "Two requests are equally near, so neither was picked. Move closer to yours, or name "
                + "it.",
            next: "gotchu-ctl scan"
        )
    }
}
