internal import GotchuCore
internal import Ledger
internal import Synchronization

/// What is in the store, read at most every few seconds and once at a time, however often the
/// metrics are read.
final class StoreWatch: Sendable {
    private static let period: Duration = .seconds(5)
    /// How long the metrics wait for it: the other figures are wanted most when the store hangs.
    private static let patience: Duration = .seconds(1)

    private struct State {
        var reading: StoreReading?
        var askedAt: MonotonicTime?
        var question: Task<Void, Never>?
    }

    private let store: any OperationsStore
    private let state = Mutex(State())

    init(store: any OperationsStore) {
        self.store = store
    }

    /// What was read last, or `nil` if it could not be read of late: the store has failed, or has
    /// been silent for longer than anybody waits.
    var reading: StoreReading? {
        get async {
            if isDue {
                let (answers, answer) = AsyncStream.makeStream(of: Never.self)
                state.withLock { state in
                    // Not a child of the caller, who waits for a second at most.
                    // SAFETY: owned by the state until the store answers or gives up.
                    state.question = Task {
                        let reading = try? await self.store.storeReading()
                        self.state.withLock { ($0.reading, $0.question) = (reading, nil) }
                        answer.finish()
                    }
                }
                try? await withTimeout(Self.patience) { for await _ in answers {} }
            }
            let now = MonotonicTime.now
            return state.withLock { state in
                let isSilent =
                    state.question != nil
                    && state.askedAt.map { now - $0 >= Self.patience } ?? false
                return isSilent ? nil : state.reading
            }
        }
    }

    private var isDue: Bool {
        let now = MonotonicTime.now
        return state.withLock { state in
            if state.question != nil { return false }
            if let askedAt = state.askedAt, now - askedAt < Self.period { return false }
            state.askedAt = now
            return true
        }
    }
}
