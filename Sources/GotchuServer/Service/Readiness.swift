internal import GotchuAPI
internal import GotchuCore
internal import Ledger
internal import Synchronization

/// Answers `/readyz`: checks that the database accepts writes by writing and waiting for the
/// commit.
///
/// Anyone may request it, so it must not slow payments down: there is at most one check a second,
/// one at a time, and none while many payments wait.
final class Readiness: Sendable {
    /// The time for which a check's result is valid.
    static let period: Duration = .seconds(1)
    private static let retryAfterSeconds = 1

    private struct State {
        /// Initially true: a server that has just opened its database is ready.
        var isReady = true
        var isDraining = false
        var probeTask: Task<Void, Never>?
        var startedAt: MonotonicTime?
    }

    private let ledger: Ledger
    /// The time after which a caller that waits for a check is told that the server is not ready.
    private let timeout: Duration
    private let clock: @Sendable () -> MonotonicTime
    private let state = Mutex(State())

    init(
        ledger: Ledger,
        timeout: Duration = Readiness.period,
        clock: @escaping @Sendable () -> MonotonicTime = { .now }
    ) {
        self.ledger = ledger
        self.timeout = timeout
        self.clock = clock
    }

    /// A Boolean that is true once a shutdown was requested.
    var isDraining: Bool { state.withLock { $0.isDraining } }

    /// Makes the server report that it is not ready: new requests should go elsewhere.
    func drain() {
        state.withLock { $0.isDraining = true }
    }

    /// - Throws: If payments should go elsewhere for now.
    func check() async throws {
        if ledger.isBusy || isDraining { throw Self.notReady }
        switch cachedResult() {
        case true?: return
        case false?: throw Self.notReady
        case nil: try await probe()
        }
    }

    /// Returns the last check's result; `nil` if the caller has to start a new check.
    private func cachedResult() -> Bool? {
        let now = clock()
        return state.withLock { state in
            if let startedAt = state.startedAt, now - startedAt < Self.period {
                return state.isReady
            }
            // A check that takes longer than this period is a failure.
            if state.probeTask != nil { return false }
            state.startedAt = now
            return nil
        }
    }

    /// Waits for a check with a timeout, so that a hanging database does not block the caller.
    private func probe() async throws {
        let (ends, end) = AsyncStream.makeStream(
            of: Bool.self,
            bufferingPolicy: .bufferingNewest(1)
        )
        state.withLock { state in
            // Not a child of the caller, which waits for a second at most.
            // SAFETY: owned by the state until the ledger answers, at its shutdown at the latest.
            state.probeTask = Task {
                end.yield(await self.isWritable())
                end.finish()
            }
        }
        let isReady = try? await withTimeout(timeout) {
            for await isReady in ends { return isReady }
            return false
        }
        guard isReady == true else { throw Self.notReady }
    }

    private func isWritable() async -> Bool {
        let isReady = (try? await ledger.probe()) != nil
        state.withLock { state in
            state.probeTask = nil
            state.isReady = isReady
        }
        return isReady
    }

    private static var notReady: ProblemWithHeaders {
        Problem(.tryAgain, detail: "The books cannot be written just now.", retryable: true)
            .retry(after: retryAfterSeconds)
    }
}
