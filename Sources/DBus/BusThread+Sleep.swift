/// Tasks that wait for a moment, each under a number of its own. Used within the thread's lock.
struct Sleepers {
    private struct Sleeper {
        let deadline: ContinuousClock.Instant
        let continuation: CheckedContinuation<Void, Never>
    }

    private var waiting: [UInt64: Sleeper] = [:]
    /// Cancelled before they waited.
    private var cancelled: Set<UInt64> = []
    private var nextID: UInt64 = 0

    /// The next that is due.
    private(set) var nextDeadline: ContinuousClock.Instant?

    mutating func makeID() -> UInt64 {
        nextID += 1
        return nextID
    }

    /// - Returns: `false` if it was cancelled meanwhile.
    mutating func add(
        _ id: UInt64,
        until deadline: ContinuousClock.Instant,
        _ continuation: CheckedContinuation<Void, Never>
    ) -> Bool {
        guard cancelled.remove(id) == nil else { return false }
        waiting[id] = Sleeper(deadline: deadline, continuation: continuation)
        nextDeadline = nextDeadline.map { min($0, deadline) } ?? deadline
        return true
    }

    /// - Returns: who is to be resumed for it, outside the lock.
    mutating func cancel(_ id: UInt64) -> CheckedContinuation<Void, Never>? {
        guard let sleeper = waiting.removeValue(forKey: id) else {
            cancelled.insert(id)
            return nil
        }
        findNextDeadline()
        return sleeper.continuation
    }

    /// The sleep is over: nothing of it is kept.
    mutating func forget(_ id: UInt64) { cancelled.remove(id) }

    /// - Returns: who is to be resumed now, the longest due first, outside the lock.
    mutating func takeDue() -> [CheckedContinuation<Void, Never>] {
        guard let nextDeadline else { return [] }
        let now = ContinuousClock.now
        guard nextDeadline <= now else { return [] }
        let due = waiting.filter { $0.value.deadline <= now }
        for id in due.keys { waiting[id] = nil }
        findNextDeadline()
        return due.values.sorted { $0.deadline < $1.deadline }.map(\.continuation)
    }

    private mutating func findNextDeadline() {
        nextDeadline = waiting.values.lazy.map(\.deadline).min()
    }

    /// - Returns: everybody, to be resumed outside the lock.
    mutating func takeAll() -> [CheckedContinuation<Void, Never>] {
        defer {
            waiting = [:]
            nextDeadline = nil
        }
        return waiting.values.map(\.continuation)
    }
}

extension BusThread {
    /// Returns at a moment, when the task is cancelled, or when the thread has ended.
    ///
    /// The thread itself keeps the time, and no other wakes for it. To the millisecond, never
    /// early.
    package func sleep(until deadline: ContinuousClock.Instant) async {
        let id = makeSleep()
        await withTaskCancellationHandler {
            await withCheckedContinuation { begin(id, until: deadline, $0) }
        } onCancel: {
            cancel(id)
        }
        forget(id)
    }
}
