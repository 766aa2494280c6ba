internal import GotchuAPI
internal import GotchuCore
internal import Ledger
internal import Synchronization

/// Whether the books can be written, proved by writing to them and waiting for the commit.
///
/// Anybody may ask, so that asking must not burden payments: there is at most one proof a second
/// and one at a time, and none while many payments wait.
final class Readiness: Sendable {
    /// How long a proof is good, and how long one may take.
    private static let period: Duration = .seconds(1)
    private static let retryAfterSeconds = 1

    private struct State {
        /// A server that has just opened its books is ready.
        var isReady = true
        var isProving = false
        var startedAt: MonotonicTime?
    }

    private let ledger: Ledger
    private let clock: @Sendable () -> MonotonicTime
    private let state = Mutex(State())

    init(ledger: Ledger, clock: @escaping @Sendable () -> MonotonicTime = { .now }) {
        self.ledger = ledger
        self.clock = clock
    }

    /// - Throws: If payments should rather go elsewhere for now.
    func check() async throws {
        if ledger.isBusy { throw Self.notReady }
        switch known() {
        case true?: return
        case false?: throw Self.notReady
        case nil: try await prove()
        }
    }

    /// What the last proof showed, or `nil` if it is for the caller to prove anew.
    private func known() -> Bool? {
        let now = clock()
        return state.withLock { state in
            if let startedAt = state.startedAt, now - startedAt < Self.period {
                return state.isReady
            }
            // One that takes longer than this shows that something is wrong.
            if state.isProving { return false }
            state.isProving = true
            state.startedAt = now
            return nil
        }
    }

    private func prove() async throws {
        let result: Result<Void, LedgerError>
        do throws(LedgerError) {
            result = .success(try await ledger.probe())
        } catch {
            result = .failure(error)
        }
        state.withLock { state in
            state.isProving = false
            if case .success = result { state.isReady = true } else { state.isReady = false }
        }
        try result.get()
    }

    private static var notReady: Refused {
        Problem(.tryAgain, detail: "The books cannot be written just now.", retryable: true)
            .retry(after: retryAfterSeconds)
    }
}
