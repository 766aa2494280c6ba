internal import GotchuCore
internal import LedgerStore
internal import Synchronization

/// Reads the store's metrics at most every few seconds, one query at a time, however often the
/// metrics page is read.
final class StoreWatch: Sendable {
    private static let usualPeriod: Duration = .seconds(5)
    /// The timeout for the store: the other metrics matter most when it hangs.
    private static let patience: Duration = .seconds(1)

    private struct State {
        var reading: StoreReading?
        var askedAt: MonotonicTime?
        var question: Task<Void, Never>?
        /// The callers that wait for the query: those that arrive within a second of its start.
        var waiting: [AsyncStream<Never>.Continuation] = []

        /// Returns true if the current query has exceeded the timeout.
        func isSilent(at now: MonotonicTime) -> Bool {
            question != nil && askedAt.map { now - $0 >= StoreWatch.patience } ?? false
        }
    }

    private let store: any Store
    private let period: Duration
    private let state = Mutex(State())

    /// - Parameter period: The age at which a reading is refreshed.
    init(store: any Store, period: Duration = StoreWatch.usualPeriod) {
        self.store = store
        self.period = period
    }

    /// The latest reading; `nil` if the store failed or has not replied within the timeout.
    var reading: StoreReading? {
        get async {
            let (answers, answer) = AsyncStream.makeStream(of: Never.self)
            if mustWait(answer) {
                try? await withTimeout(Self.patience) { for await _ in answers {} }
            }
            let now = MonotonicTime.now
            return state.withLock { $0.isSilent(at: now) ? nil : $0.reading }
        }
    }

    /// Starts a query if one is due; during a query, callers wait for it together.
    private func mustWait(_ answer: AsyncStream<Never>.Continuation) -> Bool {
        let now = MonotonicTime.now
        return state.withLock { state in
            if state.isSilent(at: now) { return false }
            if state.question == nil {
                if let askedAt = state.askedAt, now - askedAt < period { return false }
                state.askedAt = now
                // Not a child of the caller, which waits for a second at most.
                // SAFETY: owned by the state until the store answers or gives up.
                state.question = Task { await ask() }
            }
            state.waiting.append(answer)
            return true
        }
    }

    private func ask() async {
        let reading = try? await store.reading()
        let waiting = state.withLock { state in
            (state.reading, state.question) = (reading, nil)
            defer { state.waiting = [] }
            return state.waiting
        }
        for answer in waiting { answer.finish() }
    }
}
