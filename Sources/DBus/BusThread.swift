import CLinux
import Glibc
import Synchronization

/// One thread that runs an actor's jobs and, between them, watches file descriptors for it.
///
/// libdbus blocks and is not made for many threads at once: everything about a connection happens
/// here and never on the cooperative pool, which on a small kiosk has two threads.
///
/// As a task executor it also runs what is done with what was read, so that no other thread need be
/// woken for it; that must not block either.
package final class BusThread: SerialExecutor, TaskExecutor {
    /// What the thread waits for besides jobs.
    package struct Interest {
        /// `nil` while nothing is to be read or written.
        package var descriptor: Int32?
        package var wantsToWrite: Bool
        /// When `pump()` must run again even if nothing happens.
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

    /// Whoever has something to read, asked between jobs.
    package protocol Pump: AnyObject, Sendable {
        /// Does what can be done without waiting and says what to wait for; `nil` for jobs only.
        /// Called on the thread.
        func pump() -> Interest?
    }

    private struct State {
        var jobs: [UnownedJob] = []
        var pumps: [WeakPump] = []
        var isStopping = false
        /// The thread that runs jobs now.
        var running: pthread_t?
        /// The first thread, until it is joined or detached.
        var joinable: pthread_t?
        var hasEnded = false
        var waitingForEnd: [CheckedContinuation<Void, Never>] = []
        /// The thread waits, or is about to, and only the alarm ends that.
        var isWaiting = false
        /// `wake()` was called since the pump was last asked.
        var isCalled = false
        var sleepers = Sleepers()

        /// - Returns: whether the alarm must be sounded.
        mutating func endWait() -> Bool {
            defer { isWaiting = false }
            return isWaiting
        }
    }

    private struct WeakPump {
        weak var pump: (any Pump)?
    }

    private let state = Mutex(State())
    /// An eventfd(2) that interrupts the wait.
    private let alarm: Int32
    private let name: String

    /// - Throws: `overloaded` when the process has no descriptor or thread left.
    package init(name: String) throws(DBusError) {
        alarm = clinux_eventfd()
        guard alarm >= 0 else { throw DBusError(.overloaded, underlying: "eventfd: \(errno)") }
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
        // The thread holds a reference for as long as it runs, so none does now.
        Glibc.close(alarm)
    }

    /// Gives the thread something more to watch; held weakly.
    package func watch(_ pump: any Pump) {
        state.withLock { state in
            state.pumps.removeAll { $0.pump == nil }
            state.pumps.append(WeakPump(pump: pump))
        }
        wake()
    }

    /// Lets something go. What it is doing at this moment it ends.
    package func forget(_ pump: any Pump) {
        state.withLock { state in
            state.pumps.removeAll { $0.pump == nil || $0.pump === pump }
        }
        wake()
    }

    /// Makes the thread ask its pumps again soon.
    func wake() {
        let isWaiting = state.withLock { state in
            state.isCalled = true
            return state.endWait()
        }
        if isWaiting { sound() }
    }

    // MARK: Sleeping

    func makeSleep() -> UInt64 { state.withLock { $0.sleepers.makeID() } }

    func begin(
        _ id: UInt64,
        until deadline: ContinuousClock.Instant,
        _ sleeper: CheckedContinuation<Void, Never>
    ) {
        let (sleeps, isWaiting) = state.withLock { state in
            let sleeps = !state.hasEnded && state.sleepers.add(id, until: deadline, sleeper)
            return (sleeps, sleeps && state.endWait())
        }
        if isWaiting { sound() }
        if !sleeps { sleeper.resume() }
    }

    func cancel(_ id: UInt64) { state.withLock { $0.sleepers.cancel(id) }?.resume() }

    func forget(_ id: UInt64) { state.withLock { $0.sleepers.forget(id) } }

    private func wakeSleepers() {
        let due = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            guard let first = state.sleepers.nextDeadline else { return [] }
            let now = ContinuousClock.now
            return first <= now ? state.sleepers.takeDue(at: now) : []
        }
        for sleeper in due { sleeper.resume() }
    }

    private func sound() {
        var one: UInt64 = 1
        // It fails only when the counter is full, and then the thread is about to wake anyway.
        _ = write(alarm, &one, MemoryLayout.size(ofValue: one))
    }

    /// Ends the thread once the jobs that wait have run. A job that comes later still runs, on a
    /// thread of its own: a late caller hears that the connection is closed rather than hang.
    ///
    /// - Parameter isJoined: whether `join()` follows.
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
        if isWaiting { sound() }
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
        // Signals are the main program's business.
        var all = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_BLOCK, &all, nil)
        clinux_name_this_thread(name)
        var descriptors: [pollfd] = []
        while let pumps = runJobs() {
            wait(pumps.compactMap { $0.pump() }, &descriptors)
            wakeSleepers()
        }
        for sleeper in state.withLock({ $0.sleepers.takeAll() }) { sleeper.resume() }
    }

    /// Runs what is queued.
    ///
    /// - Returns: the pumps to ask next, or `nil` at the end.
    private func runJobs() -> [any Pump]? {
        while true {
            let (jobs, isOver) = state.withLock { state in
                let jobs = state.jobs
                state.jobs = []
                let isOver = jobs.isEmpty && state.isStopping
                if isOver { end(&state) }
                return (jobs, isOver)
            }
            if isOver { return nil }
            guard !jobs.isEmpty else {
                return state.withLock { state in
                    state.isCalled = false
                    return state.pumps.compactMap(\.pump)
                }
            }
            for job in jobs {
                job.runSynchronously(
                    isolatedTo: asUnownedSerialExecutor(),
                    taskExecutor: asUnownedTaskExecutor()
                )
            }
        }
    }

    private func end(_ state: inout State) {
        state.running = nil
        state.hasEnded = true
        for continuation in state.waitingForEnd { continuation.resume() }
        state.waitingForEnd = []
    }

    private func wait(_ interests: [Interest], _ descriptors: inout [pollfd]) {
        let (mayWait, nextSleeper) = state.withLock { state in
            state.isWaiting = state.jobs.isEmpty && !state.isCalled
            return (state.isWaiting, state.sleepers.nextDeadline)
        }
        // What the pump brought about is done first, and nobody need have sounded the alarm for it.
        guard mayWait else { return }
        defer { state.withLock { $0.isWaiting = false } }
        descriptors.removeAll(keepingCapacity: true)
        descriptors.append(pollfd(fd: alarm, events: Int16(POLLIN), revents: 0))
        for interest in interests {
            guard let descriptor = interest.descriptor else { continue }
            let events = POLLIN | (interest.wantsToWrite ? POLLOUT : 0)
            descriptors.append(pollfd(fd: descriptor, events: Int16(events), revents: 0))
        }
        var deadline = nextSleeper
        for interest in interests {
            guard let due = interest.deadline else { continue }
            deadline = deadline.map { min($0, due) } ?? due
        }
        poll(&descriptors, nfds_t(descriptors.count), Self.milliseconds(to: deadline))
        if descriptors[0].revents != 0 {
            var count: UInt64 = 0
            _ = read(alarm, &count, MemoryLayout.size(ofValue: count))
        }
    }

    /// For poll(2): rounded up, so that a deadline has passed when it returns; −1 waits for ever.
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
