internal import GotchuCore
internal import Ledger
internal import Synchronization

/// What is in the store, read at most every few seconds and once at a time, however often the
/// metrics are read.
final class StoreWatch: Sendable {
    private static let period: Duration = .seconds(5)

    private struct State {
        var reading: StoreReading?
        var askedAt: MonotonicTime?
    }

    private let store: any OperationsStore
    private let state = Mutex(State())

    init(store: any OperationsStore) {
        self.store = store
    }

    /// What was read last, or `nil` if it could not be read.
    var reading: StoreReading? {
        get async {
            guard isDue else { return state.withLock { $0.reading } }
            let reading = try? await store.storeReading()
            state.withLock { $0.reading = reading }
            return reading
        }
    }

    private var isDue: Bool {
        let now = MonotonicTime.now
        return state.withLock { state in
            if let askedAt = state.askedAt, now - askedAt < Self.period { return false }
            state.askedAt = now
            return true
        }
    }
}
