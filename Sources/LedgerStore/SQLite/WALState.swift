internal import Ledger
internal import Synchronization

/// A flag that says whether the log of the database may still be believed.
///
/// When the system could not sync it at the end of a COMMIT, its pages may be on the disk or not.
/// The system takes them for written from then on and shows them to whoever reads the file, and a
/// later sync that succeeds says nothing about them (PostgreSQL's wiki, "Fsync Errors"). So nothing
/// more is read or written then: the program ends, and the next one finds out what was kept.
final class WALState: Sendable {
    private let isUntrusted = Atomic<Bool>(false)
    private let waker: AsyncStream<Void>.Continuation

    /// - Parameter waker: Told when it is lost.
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
