internal import GotchuCore
internal import Ledger
internal import Synchronization

/// How many sessions are open, counted at most every few seconds and once at a time, however often
/// the metrics are read.
final class LiveSessions: Sendable {
    private static let period: Duration = .seconds(5)

    private struct State {
        var count: Int?
        var askedAt: MonotonicTime?
    }

    private let store: (any OperationsStore)?
    private let state = Mutex(State())

    init(store: (any OperationsStore)?) {
        self.store = store
    }

    /// The number, or `nil` if it is not known.
    var count: Int? {
        get async {
            guard let store, isDue else { return state.withLock { $0.count } }
            let count = try? await store.liveSessionCount()
            state.withLock { $0.count = count }
            return count
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
