import CLinux
import Glibc
import Synchronization

/// A thread that runs an actor's jobs and, between them, watches file descriptors for it.
///
/// libdbus blocks, and is not made for many threads at once. All work on a connection happens on
/// this thread, never on the cooperative pool, which has only two threads on a small kiosk.
///
/// As a task executor it also runs the tasks that process the received data: no other thread is
/// woken for them. These tasks must not block.
package final class BusThread: SerialExecutor, TaskExecutor {
    /// The events that the thread waits for besides jobs.
    package struct Interest {
        /// The descriptor to poll; `nil` while nothing is to be read or written.
        package var descriptor: Int32?
        package var wantsToWrite: Bool
        /// The time at which `pump()` must run again even without an event.
        package var deadline: ContinuousClock.Instant?

        package init(
            descriptor: Int32?,
            wantsToWrite: Bool = false,
            deadline: ContinuousClock.Instant?
        ) {
            self.descriptor = descriptor
            self.wantsToWrite = wantsToWrite
            self.deadline = deadline
        }
    }

    /// An object that is run after jobs and `wake()`, and when an event that it waits for occurs.
    package protocol Pump: AnyObject, Sendable {
        /// Does what is possible without waiting and returns the events to wait for; `nil` if there
        /// are none. Called on the thread.
        func pump() -> Interest?
    }

    fileprivate struct State {
        var jobs: [UnownedJob] = []
        var pumps: [WeakPump] = []
        var isStopping = false
        /// The thread that runs jobs now.
        var running: pthread_t?
        /// The first thread, until it is joined or detached.
        var joinable: pthread_t?
        var hasEnded = false
        var waitingForEnd: [CheckedContinuation<Void, Never>] = []
        /// A Boolean that is true while the thread waits, or is about to wait, and no interruption
        /// has been requested yet.
        var isWaiting = false
        /// A Boolean that is true if `wake()` was called since the pumps were last run.
        var isWakeRequested = false
        var sleepers = Sleepers()

        /// - Returns: True if the wait must be interrupted.
        mutating func endWait() -> Bool {
            defer { isWaiting = false }
            return isWaiting
        }
    }

    fileprivate struct WeakPump {
        weak var pump: (any Pump)?
    }

    /// A pump and its last interest. Used on the thread alone; a class, because copying a weak
    /// reference is expensive.
    private final class Watched {
        let pump: WeakPump
        var interest: Interest?
        /// A Boolean that is true if its event has occurred, or it has never run.
        var isDue = true
        /// Its index among the polled descriptors.
        var place: Int?

        init(_ pump: WeakPump) {
            self.pump = pump
        }
    }

    private let state = Mutex(State())
    /// An eventfd(2) that interrupts the wait.
    private let wakeDescriptor: Int32
    private let name: String

    /// - Throws: `overloaded` when the process has no descriptor or thread left.
    package init(name: String) throws(DBusError) {
        wakeDescriptor = clinux_eventfd()
        guard wakeDescriptor >= 0 else {
            throw DBusError(.overloaded, underlying: "eventfd: \(errno)")
        }
        self.name = name
        let status = state.withLock { state in
            let status = startThread(&state)
            state.joinable = state.running
            return status
        }
        guard status == 0 else {
            throw DBusError(.overloaded, underlying: "pthread_create: \(status)")
        }
    }

    deinit {
        // A running thread holds a reference, so no thread runs now.
        Glibc.close(wakeDescriptor)
    }

    /// Adds a pump for the thread to watch; held weakly.
    package func watch(_ pump: any Pump) {
        state.withLock { state in
            state.pumps.removeAll { $0.pump == nil }
            state.pumps.append(WeakPump(pump: pump))
        }
        wake()
    }

    /// Removes a pump. A turn that is running now is completed.
    package func forget(_ pump: any Pump) {
        state.withLock { state in
            state.pumps.removeAll { $0.pump == nil || $0.pump === pump }
        }
        wake()
    }

    /// Makes the thread run its pumps again soon.
    func wake() {
        let isWaiting = state.withLock { state in
            state.isWakeRequested = true
            return state.endWait()
        }
        if isWaiting { interruptWait() }
    }

    // MARK: Sleeping

    package func makeSleep() -> UInt64 { state.withLock { $0.sleepers.makeID() } }

    func begin(
        _ id: UInt64,
        until deadline: ContinuousClock.Instant,
        tolerance: Duration,
        _ sleeper: CheckedContinuation<Void, Never>
    ) {
        let (sleeps, isWaiting) = state.withLock { state in
            let sleeps =
                !state.hasEnded
                && state.sleepers.add(id, until: deadline, tolerance: tolerance, sleeper)
            return (sleeps, sleeps && state.endWait())
        }
        if isWaiting { interruptWait() }
        if !sleeps { sleeper.resume() }
    }

    /// Ends a sleep, including one that has not begun.
    package func cancel(_ id: UInt64) { state.withLock { $0.sleepers.cancel(id) }?.resume() }

    package func forget(_ id: UInt64) { state.withLock { $0.sleepers.forget(id) } }

    private func interruptWait() {
        var one: UInt64 = 1
        // This fails only when the counter is full; the thread is then about to wake.
        _ = write(wakeDescriptor, &one, MemoryLayout.size(ofValue: one))
    }

    /// Ends the thread once the queued jobs have run. A later job still runs, on a new thread: a
    /// late call fails with `closed` and does not hang.
    ///
    /// - Parameter isJoined: True if `join()` follows.
    package func stop(isJoined: Bool) {
        state.withLock { state in
            state.isStopping = true
            if !isJoined, let thread = state.joinable.take() { pthread_detach(thread) }
        }
        wake()
    }

    /// Returns when the thread that `stop()` ended is gone.
    func join() async {
        await withCheckedContinuation { continuation in
            let hasEnded = state.withLock { state in
                if !state.hasEnded { state.waitingForEnd.append(continuation) }
                return state.hasEnded
            }
            if hasEnded { continuation.resume() }
        }
        let thread = state.withLock { $0.joinable.take() }
        if let thread { pthread_join(thread, nil) }
    }

    // MARK: SerialExecutor

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isWaiting = state.withLock { state in
            state.jobs.append(job)
            if state.running == nil {
                let status = startThread(&state)
                precondition(status == 0, "no thread can be started for a job")
                if let thread = state.running { pthread_detach(thread) }
            }
            return state.endWait()
        }
        if isWaiting { interruptWait() }
    }

    package func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        UnownedSerialExecutor(ordinary: self)
    }

    package func checkIsolated() {
        precondition(isIsolatingCurrentContext() == true, "not on the bus thread")
    }

    package func isIsolatingCurrentContext() -> Bool? {
        state.withLock { state in
            guard let thread = state.running else { return false }
            return pthread_equal(thread, pthread_self()) != 0
        }
    }

    // MARK: The thread

    private func startThread(_ state: inout State) -> Int32 {
        let this = Unmanaged.passRetained(self)
        var thread = pthread_t()
        let status = pthread_create(
            &thread,
            nil,
            { argument in
                guard let argument else { return nil }
                Unmanaged<BusThread>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            },
            this.toOpaque()
        )
        if status == 0 { state.running = thread } else { this.release() }
        return status
    }

    private func run() {
        // Signals are handled by the main program.
        var all = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_BLOCK, &all, nil)
        clinux_name_this_thread(name)
        var watched: [Watched] = []
        var descriptors: [pollfd] = []
        while runJobs(&watched) {
            for one in watched where one.isDue {
                one.interest = one.pump.pump?.pump()
                one.isDue = false
            }
            wait(watched, &descriptors)
        }
        for sleeper in state.withLock({ $0.sleepers.popAll() }) { sleeper.resume() }
    }

    /// Runs queued jobs and wakes the sleepers that are due. Afterwards every pump runs again,
    /// because the jobs may have given it work.
    ///
    /// - Returns: `false` at the end.
    private func runJobs(_ watched: inout [Watched]) -> Bool {
        while true {
            let turn = state.withLock { $0.nextTurn() }
            if turn.isOver { return false }
            if let pumps = turn.pumps { watched = pumps.map(Watched.init) }
            guard turn.hasWork else { return true }
            for sleeper in turn.due { sleeper.resume() }
            for job in turn.jobs {
                job.runSynchronously(
                    isolatedTo: asUnownedSerialExecutor(),
                    taskExecutor: asUnownedTaskExecutor()
                )
            }
        }
    }

    private func wait(_ watched: [Watched], _ descriptors: inout [pollfd]) {
        let (mayWait, nextSleeper) = state.withLock { state in
            state.isWaiting = state.jobs.isEmpty && !state.isWakeRequested
            return (state.isWaiting, state.sleepers.nextLimit)
        }
        // Jobs that the pumps have queued run first: they did not request an interruption.
        guard mayWait else { return }
        descriptors.removeAll(keepingCapacity: true)
        descriptors.append(pollfd(fd: wakeDescriptor, events: Int16(POLLIN), revents: 0))
        var deadline = nextSleeper
        for one in watched {
            one.place = nil
            guard let interest = one.interest else { continue }
            if let due = interest.deadline { deadline = deadline.map { min($0, due) } ?? due }
            guard let descriptor = interest.descriptor else { continue }
            let events = POLLIN | (interest.wantsToWrite ? POLLOUT : 0)
            one.place = descriptors.count
            descriptors.append(pollfd(fd: descriptor, events: Int16(events), revents: 0))
        }
        poll(&descriptors, nfds_t(descriptors.count), Self.milliseconds(to: deadline))
        if descriptors[0].revents != 0 {
            var count: UInt64 = 0
            _ = read(wakeDescriptor, &count, MemoryLayout.size(ofValue: count))
        }
        let now = ContinuousClock.now
        for one in watched {
            let isReady = one.place.map { descriptors[$0].revents != 0 } ?? false
            let isLate = one.interest?.deadline.map { $0 <= now } ?? false
            one.isDue = isReady || isLate
        }
    }

    /// Returns the timeout for poll(2), rounded up: the deadline has passed when it ends. −1 waits
    /// for ever.
    private static func milliseconds(to deadline: ContinuousClock.Instant?) -> Int32 {
        guard let deadline else { return -1 }
        let left = ContinuousClock.now.duration(to: deadline)
        guard left > .zero else { return 0 }
        let (seconds, attoseconds) = left.components
        let milliseconds =
            seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        return Int32(clamping: milliseconds)
    }
}

extension BusThread.State {
    /// The work that the thread does before it waits again.
    struct Turn {
        var jobs: [UnownedJob] = []
        var due: [CheckedContinuation<Void, Never>] = []
        /// The pumps to run, if any may have new work.
        var pumps: [BusThread.WeakPump]?
        var isOver = false

        var hasWork: Bool { !jobs.isEmpty || !due.isEmpty }
    }

    fileprivate mutating func nextTurn() -> Turn {
        isWaiting = false
        var turn = Turn()
        if !jobs.isEmpty { swap(&jobs, &turn.jobs) }
        turn.due = sleepers.popDue()
        if !turn.hasWork, isStopping {
            end()
            turn.isOver = true
        }
        if turn.hasWork || isWakeRequested {
            pumps.removeAll { $0.pump == nil }
            turn.pumps = pumps
            isWakeRequested = false
        }
        return turn
    }

    private mutating func end() {
        running = nil
        hasEnded = true
        for continuation in waitingForEnd { continuation.resume() }
        waitingForEnd = []
    }
}
