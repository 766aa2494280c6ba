import Synchronization

/// A FIFO lock for an actor's work of several steps. At each `await`, other calls of the actor can
/// run.
final class AsyncLock: Sendable {
    private struct State {
        var isLocked = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    /// Returns once the caller holds the lock.
    func lock() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                if state.isLocked { state.waiting.append(continuation) }
                defer { state.isLocked = true }
                return !state.isLocked
            }
            if isFree { continuation.resume() }
        }
    }

    func unlock() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            if state.waiting.isEmpty {
                state.isLocked = false
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.resume()
    }
}
