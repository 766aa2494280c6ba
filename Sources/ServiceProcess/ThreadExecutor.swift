internal import CLinux
internal import Glibc
internal import Synchronization

/// A serial executor with its own thread, for an actor whose calls block.
///
/// The cooperative pool has only one thread per core. A blocking call in it would stall the
/// program's tasks. The thread ends when the executor has no reference and the queue is empty.
package final class ThreadExecutor: SerialExecutor {
    private let jobQueue: JobQueue

    /// Starts the thread.
    ///
    /// - Parameter name: The thread's name in system tools. At most 15 bytes are kept.
    package init(name: String) {
        let jobQueue = JobQueue()
        self.jobQueue = jobQueue
        var thread = pthread_t()
        let start = Unmanaged.passRetained(ThreadArgument(jobQueue: jobQueue, name: name))
        let code = pthread_create(
            &thread,
            nil,
            { argument in
                guard let argument else { return nil }
                let start = Unmanaged<ThreadArgument>.fromOpaque(argument).takeRetainedValue()
                clinux_name_this_thread(start.name)
                start.jobQueue.runJobs()
                return nil
            },
            start.toOpaque()
        )
        precondition(code == 0, "a thread could not be started")
        pthread_detach(thread)
    }

    deinit {
        jobQueue.close()
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        jobQueue.append(UnownedJob(job), for: asUnownedSerialExecutor())
    }

    package func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        UnownedSerialExecutor(ordinary: self)
    }

    private final class ThreadArgument: Sendable {
        let jobQueue: JobQueue
        let name: String

        init(jobQueue: JobQueue, name: String) {
            self.jobQueue = jobQueue
            self.name = name
        }
    }
}

/// The jobs that wait for the thread.
private final class JobQueue: Sendable {
    private typealias Work = (job: UnownedJob, executor: UnownedSerialExecutor)

    private struct State {
        var jobs: [Work] = []
        var isClosed = false
    }

    private let state = Mutex(State())
    /// The eventfd that wakes the thread. It is written when a job is added to the empty queue, and
    /// when the queue is closed.
    private let wake: Int32

    init() {
        wake = clinux_eventfd()
        precondition(wake >= 0, "an eventfd could not be made")
    }

    deinit {
        Glibc.close(wake)
    }

    func append(_ job: UnownedJob, for executor: UnownedSerialExecutor) {
        let mustWake = state.withLock { state in
            state.jobs.append((job, executor))
            return state.jobs.count == 1
        }
        if mustWake { signal() }
    }

    func close() {
        state.withLock { $0.isClosed = true }
        signal()
    }

    /// Runs jobs until the queue is closed.
    func runJobs() {
        while true {
            let (jobs, isClosed) = state.withLock { state in
                defer { state.jobs.removeAll(keepingCapacity: false) }
                return (state.jobs, state.isClosed)
            }
            for work in jobs { work.job.runSynchronously(on: work.executor) }
            if jobs.isEmpty {
                if isClosed { return }
                sleep()
            }
        }
    }

    private func signal() {
        var one: UInt64 = 1
        _ = write(wake, &one, MemoryLayout<UInt64>.size)
    }

    private func sleep() {
        var descriptor = pollfd(fd: wake, events: Int16(POLLIN), revents: 0)
        _ = poll(&descriptor, 1, -1)
        var count: UInt64 = 0
        _ = read(wake, &count, MemoryLayout<UInt64>.size)
    }
}
