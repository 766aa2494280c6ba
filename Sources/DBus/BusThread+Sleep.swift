/// Tasks that sleep until a deadline, each with an id. Used with the thread's lock held.
struct Sleepers {
    private struct Sleeper {
        let deadline: ContinuousClock.Instant
        /// The time at which the thread wakes for it if nothing else wakes the thread before.
        let limit: ContinuousClock.Instant
        let continuation: CheckedContinuation<Void, Never>
    }

    private var waiting: [UInt64: Sleeper] = [:]
    /// The sleeps that were cancelled before they began.
    private var cancelled: Set<UInt64> = []
    private var nextID: UInt64 = 0

    private var nextDeadline: ContinuousClock.Instant?
    /// The time at which the thread must wake for a sleeper.
    private(set) var nextLimit: ContinuousClock.Instant?

    mutating func makeID() -> UInt64 {
        nextID += 1
        return nextID
    }

    /// - Returns: False if the sleep was cancelled before.
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

    /// - Returns: The task, to be resumed outside the lock; `nil` if it is not sleeping.
    mutating func cancel(_ id: UInt64) -> CheckedContinuation<Void, Never>? {
        guard let sleeper = waiting.removeValue(forKey: id) else {
            cancelled.insert(id)
            return nil
        }
        findNextDeadline()
        return sleeper.continuation
    }

    /// Forgets a sleep that has ended.
    mutating func forget(_ id: UInt64) { cancelled.remove(id) }

    /// - Returns: The tasks that are due, to be resumed outside the lock; the earliest deadline
    ///   first.
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
    /// Returns at a deadline, when the task is cancelled, or when the thread has ended.
    ///
    /// The thread itself keeps the time; no other thread wakes for it. Accurate to the millisecond,
    /// and never early.
    ///
    /// - Parameter tolerance: The longest allowed delay. Any wake of the thread after the deadline
    ///   ends the sleep.
    package func sleep(
        until deadline: ContinuousClock.Instant,
        tolerance: Duration = .zero
    ) async {
        let id = makeSleep()
        await sleep(id, until: deadline, tolerance: tolerance)
        forget(id)
    }

    /// Sleeps under an id by which the caller can end the sleep early. The id comes from
    /// `makeSleep()` and is valid for one sleep. It must be forgotten afterwards.
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
