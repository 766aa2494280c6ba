import GotchuCore
import NIOPosix
import Synchronization

/// The daemon's fsynced record of what it has started.
///
/// Writes happen one after the other on a thread of their own; `append` returns when the record is
/// on the disk.
final class Journal: Sendable {
    /// What it held when it was opened.
    let contentsAtStart: JournalContents
    /// Whether a torn write was cut off then.
    let wasTorn: Bool

    private let file: Mutex<JournalFile>
    private let statistics = Mutex(Statistics())
    private let thread: NIOThreadPool

    init(folder: String) throws(JournalFailure) {
        let opened = try JournalFile(folder: folder)
        contentsAtStart = opened.contentsAtStart
        wasTorn = opened.wasTorn
        file = Mutex(opened)
        thread = NIOThreadPool(numberOfThreads: 1)
        thread.start()
    }

    /// How it has worked since the start.
    struct Statistics: Sendable {
        /// From a record to its being on the disk, the waiting for others included.
        var latency = Histogram.local
        var failures = 0
    }

    var counts: Statistics { statistics.withLock(\.self) }

    /// Writes one record and syncs it.
    func append(_ record: JournalRecord) async throws(JournalFailure) {
        let start = MonotonicTime.now
        let outcome: Result<Void, JournalFailure>
        do {
            outcome = try await thread.runIfActive {
                self.file.withLock { file in
                    Result { () throws(JournalFailure) in try file.append(record) }
                }
            }
        } catch {
            throw .system(operation: "write", reason: "the daemon is stopping")
        }
        let latency = MonotonicTime.now - start
        statistics.withLock { statistics in
            switch outcome {
            case .success: statistics.latency.observe(latency)
            case .failure: statistics.failures += 1
            }
        }
        try outcome.get()
    }

    /// Waits for what is being written and lets no more be written.
    func close() async {
        try? await thread.shutdownGracefully()
    }
}
