internal import GotchuAPI
internal import GotchuCore
internal import Ledger
internal import Synchronization

/// Answers `/readyz`: checks that the database accepts writes, by a write and its commit.
///
/// Anyone may request `/readyz`, so it must not slow payments down. At most one check starts per
/// second, only one runs at a time, and none starts while many payments wait.
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
    /// The longest wait for a check. After it, the caller gets the answer that the server is not
    /// ready.
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

    /// Makes the server report that it is not ready. New requests should then go to another server.
    func drain() {
        state.withLock { $0.isDraining = true }
    }

    /// - Throws: 503 if the server is draining or busy, or if the last check failed.
    func check() async throws {
        if ledger.isBusy || isDraining { throw Self.notReady }
        switch cachedResult() {
        case true?: return
        case false?: throw Self.notReady
        case nil: try await probe()
        }
    }

    /// Returns the last check's result. Returns `nil` if the caller must start a new check.
    private func cachedResult() -> Bool? {
        let now = clock()
        return state.withLock { state in
            if let startedAt = state.startedAt, now - startedAt < Self.period {
                return state.isReady
            }
            // A check that runs for longer than the period counts as failed.
            if state.probeTask != nil { return false }
            state.startedAt = now
            return nil
        }
    }

    /// Starts a check, and waits for it until the timeout. A database that hangs does not block the
    /// caller.
    private func probe() async throws {
        let (ends, end) = AsyncStream.makeStream(
            of: Bool.self,
            bufferingPolicy: .bufferingNewest(1)
        )
        state.withLock { state in
            // Not a child task: the caller waits for a limited time only.
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
