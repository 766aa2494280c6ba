internal import GotchuCore
internal import LedgerStore
internal import Synchronization

/// Reads the store's metrics, one query at a time. However often the metrics page is read, a query
/// starts at most every few seconds.
final class StoreMetricsCache: Sendable {
    private static let defaultPeriod: Duration = .seconds(5)
    /// The timeout of a query. If the store hangs, the other metrics matter most.
    private static let queryTimeout: Duration = .seconds(1)

    private struct State {
        var reading: StoreReading?
        var startedAt: MonotonicTime?
        var query: Task<Void, Never>?
        /// The callers that wait for the query. Callers join only within a second of its start.
        var waiting: [AsyncStream<Never>.Continuation] = []

        /// Returns true if the current query has exceeded the timeout.
        func hasTimedOut(at now: MonotonicTime) -> Bool {
            query != nil && startedAt.map { now - $0 >= StoreMetricsCache.queryTimeout } ?? false
        }
    }

    private let store: any Store
    private let period: Duration
    private let state = Mutex(State())

    /// - Parameter period: The age at which a reading is refreshed.
    init(store: any Store, period: Duration = StoreMetricsCache.defaultPeriod) {
        self.store = store
        self.period = period
    }

    /// The latest reading; `nil` if the last query failed or the current one exceeds the timeout.
    var reading: StoreReading? {
        get async {
            let (answers, answer) = AsyncStream.makeStream(of: Never.self)
            if joinQuery(answer) {
                try? await withTimeout(Self.queryTimeout) { for await _ in answers {} }
            }
            let now = MonotonicTime.now
            return state.withLock { $0.hasTimedOut(at: now) ? nil : $0.reading }
        }
    }

    /// Starts a query if one is due, and adds the caller to those that wait for it.
    ///
    /// - Returns: False if there is no query to wait for.
    private func joinQuery(_ answer: AsyncStream<Never>.Continuation) -> Bool {
        let now = MonotonicTime.now
        return state.withLock { state in
            if state.hasTimedOut(at: now) { return false }
            if state.query == nil {
                if let startedAt = state.startedAt, now - startedAt < period { return false }
                state.startedAt = now
                // Not a child task: the caller waits for a second at most.
                // SAFETY: owned by the state until the store answers or gives up.
                state.query = Task { await runQuery() }
            }
            state.waiting.append(answer)
            return true
        }
    }

    private func runQuery() async {
        let reading = try? await store.reading()
        let waiting = state.withLock { state in
            (state.reading, state.query) = (reading, nil)
            defer { state.waiting = [] }
            return state.waiting
        }
        for answer in waiting { answer.finish() }
    }
}
