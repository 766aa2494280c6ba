/// Tasks that wait for a moment, each under a number of its own. Used within the thread's lock.
struct Sleepers {
    private struct Sleeper {
        let deadline: ContinuousClock.Instant
        /// The time at which it is woken if nothing else wakes the thread before.
        let limit: ContinuousClock.Instant
        let continuation: CheckedContinuation<Void, Never>
    }

    private var waiting: [UInt64: Sleeper] = [:]
    /// The sleeps that were cancelled before they began.
    private var cancelled: Set<UInt64> = []
    private var nextID: UInt64 = 0

    /// The earliest deadline.
    private var nextDeadline: ContinuousClock.Instant?
    /// The time at which the thread has to wake for one.
    private(set) var nextLimit: ContinuousClock.Instant?

    mutating func makeID() -> UInt64 {
        nextID += 1
        return nextID
    }

    /// - Returns: False if it was cancelled meanwhile.
    mutating func add(
        _ id: UInt64,
        until deadline: ContinuousClock.Instant,
        tolerance: Duration,
        _ continuation: CheckedContinuation<Void, Never>
    ) -> Bool {
        guard cancelled.remove(id) == nil else { return false }
        let limit = deadline + tolerance
        waiting[id] = Sleeper(deadline: deadline, limit: limit, continuation: continuation)
        nextDeadline = nextDeadline.map { min($0, deadline) } ?? deadline
        nextLimit = nextLimit.map { min($0, limit) } ?? limit
        return true
    }

    /// - Returns: The task to resume for it, outside the lock.
    mutating func cancel(_ id: UInt64) -> CheckedContinuation<Void, Never>? {
        guard let sleeper = waiting.removeValue(forKey: id) else {
            cancelled.insert(id)
            return nil
        }
        findNextDeadline()
        return sleeper.continuation
    }

    /// Forgets a sleep that is over.
    mutating func forget(_ id: UInt64) { cancelled.remove(id) }

    /// - Returns: The tasks to resume now, the longest due first, outside the lock.
    mutating func popDue() -> [CheckedContinuation<Void, Never>] {
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
        nextLimit = waiting.values.lazy.map(\.limit).min()
    }

    /// - Returns: All tasks, to be resumed outside the lock.
    mutating func popAll() -> [CheckedContinuation<Void, Never>] {
        defer {
            waiting = [:]
            findNextDeadline()
        }
        return waiting.values.map(\.continuation)
    }
}

extension BusThread {
    /// Returns at a moment, when the task is cancelled, or when the thread has ended.
    ///
    /// The thread itself keeps the time, and no other wakes for it. To the millisecond, never
    /// early.
    ///
    /// - Parameter tolerance: The delay that is allowed if the thread wakes by then anyway.
    package func sleep(
        until deadline: ContinuousClock.Instant,
        tolerance: Duration = .zero
    ) async {
        let id = makeSleep()
        await sleep(id, until: deadline, tolerance: tolerance)
        forget(id)
    }

    /// The same under a number of the caller's, by which it is ended early: from `makeSleep()`, for
    /// one sleep, and to be forgotten after it.
    package func sleep(
        _ id: UInt64,
        until deadline: ContinuousClock.Instant,
        tolerance: Duration = .zero
    ) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation {
                begin(id, until: deadline, tolerance: tolerance, $0)
            }
        } onCancel: {
            cancel(id)
        }
    }
}
