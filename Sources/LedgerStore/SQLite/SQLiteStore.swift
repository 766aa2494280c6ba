package import Ledger
internal import SQLite
internal import ServiceLifecycle
internal import Synchronization

/// The ledger in one SQLite file.
///
/// As a service it also moves committed pages from the log into the file, outside any commit;
/// everything else works without the service.
package final class SQLiteStore: Store, Service {
    /// The number of readers, each with its own thread and connection. The last one runs only heavy
    /// queries.
    private static let readerCount = 3
    /// The number of commits between two checkpoints.
    private static let commitsPerCheckpoint = 256

    /// Zero: there is one writer, which handles commits in chronological order.
    package let expiryMargin: Duration = .zero
    package let changes: ChangeMailbox? = nil
    private let wal: WALState
    private let onlyWriter: SQLiteWriter
    private let readers: [SQLiteReader]
    private let checkpointer: SQLiteCheckpointer
    private let turn = Atomic<Int>(0)
    private let commits = Atomic<Int>(0)
    private let (due, checkpointIsDue) = AsyncStream.makeStream(
        of: Void.self,
        bufferingPolicy: .bufferingNewest(1)
    )

    /// Opens the file; first creates it and its tables unless `opening` forbids it.
    ///
    /// - Throws: If the file cannot be opened, is not a ledger, or would not be durable.
    package init(path: String, _ opening: OpenMode = .migrating) throws(LedgerError) {
        let wal = WALState(waking: checkpointIsDue)
        self.wal = wal
        (onlyWriter, readers, checkpointer) = try translatingErrors(.cannotOpen) {
            // The writer comes first: it creates the file that the others open.
            let writer = try SQLiteWriter(path: path, opening, wal: wal)
            let readers = try (0..<Self.readerCount).map { _ in try SQLiteReader(path: path) }
            return (writer, readers, try SQLiteCheckpointer(path: path))
        }
    }

    package func commit(_ batch: Batch) async throws(LedgerError) -> Effects {
        let effects = try await translatingErrors(.tryAgain) { try await writer.commit(batch) }
        if !effects.isEmpty { countCommit() }
        return effects
    }

    package func read<Query: StoreQuery>(
        _ query: Query
    ) async throws(LedgerError) -> Query.Result {
        try wal.check()
        let next = turn.add(1, ordering: .relaxed).newValue
        let light = Int(UInt(bitPattern: next) % UInt(readers.count - 1))
        let reader = readers[Query.isHeavy ? readers.count - 1 : light]
        return try await translatingErrors(.tryAgain) { try await reader.read(query) }
    }

    /// Runs on the writer's connection. Two writing connections in one process would only wait for
    /// each other's locks.
    package func change<Query: StoreQuery>(
        _ query: Query
    ) async throws(LedgerError) -> Query.Result {
        try await translatingErrors(.tryAgain) { try await writer.change(query) }
    }

    /// Takes the lock of the file for this process until it ends; creates the file if it does not
    /// exist. Only the process with the lock may serve the file or change its tables. It must call
    /// this before it opens the file.
    ///
    /// A second server would not be notified of the first one's changes or failed syncs. Tables
    /// must not change under a running server.
    ///
    /// - Throws: `inUse` if another process holds the lock.
    package static func claim(path: String) throws(LedgerError) {
        DatabaseFile.makePrivate(path)
        try DatabaseFile.claim(path)
    }

    /// Makes sure that the log found at the start is on disk. A server must call this before its
    /// first commit.
    package func resyncLog() async throws(LedgerError) {
        try await translatingErrors(.cannotOpen) { try await writer.resyncLog() }
    }

    /// Keeps the log short until the program ends.
    ///
    /// - Throws: If the log is untrusted; the program must end then.
    package func run() async throws {
        try await cancelWhenGracefulShutdown { [self] in
            for await _ in due {
                try wal.check()
                await checkpoint()
            }
        }
        try wal.check()
        await checkpoint()
    }

    private func countCommit() {
        let count = commits.add(1, ordering: .relaxed).newValue
        if count.isMultiple(of: Self.commitsPerCheckpoint) { checkpointIsDue.yield() }
    }

    /// Runs a checkpoint. A failure loses nothing: the pages stay in the log, and the next
    /// checkpoint retries.
    private func checkpoint() async {
        if let pages = try? await checkpointer.checkpoint() {
            try? await writer.emptyLog(pages: pages)
        }
    }

    private var writer: SQLiteWriter {
        get throws(LedgerError) {
            try wal.check()
            return onlyWriter
        }
    }
}
