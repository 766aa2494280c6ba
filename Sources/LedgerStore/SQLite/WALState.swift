internal import Ledger
internal import Synchronization

/// The state of the write-ahead log: untrusted after a failed sync, and then nothing is read or
/// written any more.
///
/// If the system could not sync the log at the end of a COMMIT, its pages may or may not be on
/// disk. From then on the system considers them written and returns them to readers, and a later
/// successful sync proves nothing about them (PostgreSQL's wiki, "Fsync Errors"). So the program
/// ends, and the next process reads what is on disk.
final class WALState: Sendable {
    private let isUntrusted = Atomic<Bool>(false)
    private let waker: AsyncStream<Void>.Continuation

    /// - Parameter waker: Signalled when the log becomes untrusted.
    init(waking waker: AsyncStream<Void>.Continuation) {
        self.waker = waker
    }

    func markUntrusted() {
        isUntrusted.store(true, ordering: .sequentiallyConsistent)
        waker.yield()
    }

    func check() throws(LedgerError) {
        guard isUntrusted.load(ordering: .sequentiallyConsistent) else { return }
        throw LedgerError(
            .cannotOpen,
            "The disk did not take what was committed last: the books are read anew first.",
            fix: "The server does that when it starts. Look at the kernel's log: if this happens "
                + "again the disk is failing."
        )
    }
}
