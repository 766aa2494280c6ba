import Synchronization

/// A queue that admits one caller at a time in order of arrival, like a main loop. It admits no
/// caller while it hangs.
final class CallQueue: Sendable {
    private struct State {
        var next = 0
        var serving = 0
        var isHung = false
        var isOver = false
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
    }

    private let state = Mutex(State())

    var isHung: Bool { state.withLock(\.isHung) }

    /// The number of callers that have arrived so far.
    var arrivedCount: Int { state.withLock(\.next) }

    /// Waits for a turn; `endTurn()` ends it.
    ///
    /// - Returns: The number of callers that arrived before this one.
    @discardableResult
    func waitForTurn() async -> Int {
        let number = state.withLock { state in
            state.next += 1
            return state.next - 1
        }
        await withCheckedContinuation { continuation in
            state.withLock { $0.waiting[number] = continuation }
            admit()
        }
        return number
    }

    func endTurn() {
        state.withLock { $0.serving += 1 }
        admit()
    }

    func hang() {
        state.withLock { $0.isHung = true }
    }

    func resume() {
        state.withLock { $0.isHung = false }
        admit()
    }

    /// Admits all callers at once from now on.
    func admitAll() {
        let all = state.withLock { state in
            state.isOver = true
            defer { state.waiting = [:] }
            return state.waiting
        }
        for continuation in all.values { continuation.resume() }
    }

    private func admit() {
        let continuation = state.withLock { state -> CheckedContinuation<Void, Never>? in
            if state.isOver { return state.waiting.popFirst()?.value }
            return state.isHung ? nil : state.waiting.removeValue(forKey: state.serving)
        }
        continuation?.resume()
    }
}
