import GotchuAPI
import GotchuCore
import NIOPosix
import Synchronization

/// The durable records of the operations that the daemon has started.
protocol RecordJournal: Sendable {
    /// The records that the journal held when it was opened.
    var contentsAtStart: JournalContents { get }

    /// Writes one record. Returns when it is on disk.
    func append(_ record: JournalRecord) async throws(JournalFailure)
}

extension RecordJournal {
    /// Writes one record like `append`, but throws a problem for the daemon's caller.
    func require(_ record: JournalRecord) async throws(Problem) {
        do throws(JournalFailure) {
            try await append(record)
        } catch {
            throw Problem(error)
        }
    }
}

/// The journal in the state folder. Writes run one after the other on their own thread.
final class Journal: RecordJournal {
    let contentsAtStart: JournalContents
    /// True if the start removed an incomplete last write from the file.
    let wasTorn: Bool

    private let file: Mutex<JournalFile>
    private let statistics = Mutex(Statistics())
    private let thread: NIOThreadPool
    /// True if the last write or check failed.
    private let isFailing = Mutex(false)
    /// The result of each write and check: the failure, or `nil` for a success. Only the newest is
    /// buffered.
    let outcomes: AsyncStream<JournalFailure?>
    private let outcome: AsyncStream<JournalFailure?>.Continuation

    init(folder: String) throws(JournalFailure) {
        let opened = try JournalFile(folder: folder)
        contentsAtStart = opened.contentsAtStart
        wasTorn = opened.wasTorn
        file = Mutex(opened)
        (outcomes, outcome) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        thread = NIOThreadPool(numberOfThreads: 1)
        thread.start()
    }

    /// The statistics of the writes since the start.
    struct Statistics: Sendable {
        /// The time until a record is on disk, including the wait for earlier writes.
        var latency = Histogram.local
        var failures = 0
    }

    var counts: Statistics { statistics.withLock(\.self) }

    func append(_ record: JournalRecord) async throws(JournalFailure) {
        let start = MonotonicTime.now
        let result: Result<Void, JournalFailure>
        do {
            result = try await thread.runIfActive {
                self.file.withLock { file in
                    let result = Result { () throws(JournalFailure) in try file.append(record) }
                    self.report(result.failure)
                    return result
                }
            }
        } catch {
            throw .system(operation: "write", reason: "the daemon is stopping")
        }
        let latency = MonotonicTime.now - start
        statistics.withLock { statistics in
            switch result {
            case .success: statistics.latency.observe(latency)
            case .failure: statistics.failures += 1
            }
        }
        try result.get()
    }

    /// Publishes the result of a write or check. The caller holds the file's lock, which keeps the
    /// results in order.
    private func report(_ failure: JournalFailure?) {
        isFailing.withLock { $0 = failure != nil }
        outcome.yield(failure)
    }

    /// Checks if a record could be written. The result is published in `outcomes`.
    func check() async {
        try? await thread.runIfActive {
            self.file.withLock { file in
                let isUncertain = self.isFailing.withLock(\.self)
                let result = Result { () throws(JournalFailure) in
                    try file.check(isUncertain: isUncertain)
                }
                self.report(result.failure)
            }
        }
    }

    /// Waits for the write in progress. All later writes are refused.
    func close() async {
        try? await thread.shutdownGracefully()
    }
}

extension Result {
    fileprivate var failure: Failure? {
        if case .failure(let failure) = self { failure } else { nil }
    }
}
