import ArgumentParser
import GotchuAPI
import GotchuCore
import LocalAPI
import ServiceProcess
import Synchronization

/// Shows a request to its payee until its end.
final class RequestWatch: Sendable {
    private struct State {
        var latest: RequestView
        var lockSeen: ContinuousClock.Instant?
        var paidSeen: ContinuousClock.Instant?
        var isDaemonAbsent = false
    }

    private static let frameInterval = Duration.milliseconds(250)
    /// The sentence while gotchud does not answer. The last known state would invite a payer.
    private static let absentText = "Not known: gotchud does not answer …"

    let output: Output
    private let state: Mutex<State>

    init(request: RequestView, output: Output) {
        self.output = output
        state = Mutex(State(latest: request))
    }

    /// Prints the created request, unless the output is JSON.
    func announce() {
        let request = state.withLock { $0.latest }
        guard !output.isJSON else { return }
        let memo = request.memo.map { " · \($0.shortened)" } ?? ""
        // Both lines are one write. A reader such as head(1) may close the pipe after the first
        // line; a second write would then end the process.
        output.line(
            output.data.paint("\(request.amount)", .bold) + memo
                + "\nEID \(request.eid) · on the air until \(request.expiresAt.clockText) · "
                + "Ctrl-C cancels it"
        )
    }

    /// Follows the request to its final state.
    func waitForEnd(_ client: LocalClient) async throws -> RequestView {
        try await output.live(every: Self.frameInterval, isKept: false) {
            let (request, isAbsent) = self.state.withLock { ($0.latest, $0.isDaemonAbsent) }
            if request.state.isFinal { return nil }
            let left = Timestamp.now.duration(to: request.expiresAt).countdownText
            let width = self.output.data.size?.columns ?? Int.max
            let sentence = isAbsent ? Self.absentText : self.sentence(of: request)
            return ["\(left) · \(sentence)".truncated(to: width)]
        } during: {
            try await self.follow(client)
        }
    }

    /// Prints the outcome. Throws the exit status if the request was not paid, and a failure if it
    /// has not ended.
    func reportEnd(_ end: RequestView) throws {
        guard end.state.isFinal else {
            let failure = CommandFailure.tryAgain(
                "The request \(end.id) has not ended: \(end.reason.printable)",
                next: "gotchu-ctl wait --for paid:\(end.id)"
            )
            throw CommandFailure.about(end, failure)
        }
        if output.isJSON {
            try output.json(end)
        } else {
            output.line(sentence(of: end))
        }
        if end.state != .paid { throw ExitCode(ExitStatus.negative.rawValue) }
    }

    private func follow(_ client: LocalClient) async throws -> RequestView {
        let id = state.withLock { $0.latest.id }
        let follower = EventFollower(
            client: client,
            output: output,
            wasReached: true,
            absenceChanged: { isAbsent in
                self.state.withLock { $0.isDaemonAbsent = isAbsent }
            }
        )
        return try await follower.follow { event in
            switch event {
            case .snapshot(let snapshot):
                // After a restart the daemon may list only open requests: read a missing one by its
                // id.
                let listed = snapshot.requests.first { $0.id == id }
                let now = if let listed { listed } else { try await client.request(id) }
                return self.apply(now)
            case .requestChanged(let request) where request.id == id:
                return self.apply(request)
            case .requestChanged, .statusChanged, .presenceChanged, .presenceLost,
                .paymentChanged, .lagged:
                return nil
            }
        }
    }

    /// Stores the newest view, and the times of its lock and payment. Prints a change if there is
    /// no live region. Returns the view if it is the last one, otherwise `nil`.
    private func apply(_ request: RequestView) -> RequestView? {
        let (before, isFinal) = state.withLock { state in
            let before = state.latest
            state.latest = request
            // After a lock that ended without a payment, the next lock may be another payer's.
            if request.state == .advertising { state.lockSeen = nil }
            if request.state == .locked, state.lockSeen == nil { state.lockSeen = .now }
            if request.state == .paid, state.paidSeen == nil { state.paidSeen = .now }
            return (before, request.state.isFinal)
        }
        let isChanged = before.state != request.state || before.places?.paid != request.places?.paid
        if isChanged, !isFinal, !output.isLive {
            output.message(sentence(of: request))
        }
        return isFinal ? request : nil
    }

    private func sentence(of request: RequestView) -> String {
        let terminal = output.data
        switch request.state {
        case .advertising:
            let progress = request.progress.map { "\($0) · " } ?? ""
            return progress
                + (request.isOnAir
                    ? "Waiting for a payer …"
                    : "Waiting for a payer; not on the air at this moment …")
        case .locked: return "A payer is about to pay …"
        case .unknown: return "Not known at this moment; gotchud is finding out …"
        case .paid:
            return terminal.paint("Paid \(request.amount)", .green) + tookText(request)
        case .expired, .cancelled: return request.unpaidText(on: terminal)
        }
    }

    /// Returns the time until payment. If the lock was seen, the time counts from the lock: this is
    /// the payer's part. Otherwise it counts from the request.
    private func tookText(_ request: RequestView) -> String {
        let (lock, paid) = state.withLock { ($0.lockSeen, $0.paidSeen) }
        if let lock, let paid {
            return " · \(lock.duration(to: paid).tookText) after the payer's lock"
        }
        guard let paidAt = request.paidAt else { return "" }
        return " · \(request.createdAt.duration(to: paidAt).tookText) after the request"
    }
}
