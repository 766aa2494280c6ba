import NIOCore

/// Runs tasks on the event loop of a connection, which is the thread that writes to it.
final class LoopExecutor: TaskExecutor {
    private let loop: any EventLoop

    init(_ loop: any EventLoop) {
        self.loop = loop
    }

    /// What is queued keeps the executor alive until it has run: the connection may be over by
    /// then.
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
