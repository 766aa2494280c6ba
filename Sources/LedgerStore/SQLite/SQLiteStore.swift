package import Ledger
internal import SQLite
internal import ServiceLifecycle
internal import Synchronization

/// The ledger in one SQLite file.
///
/// As a service it also moves committed pages from the log into the file, outside any commit;
/// everything else works without.
package final class SQLiteStore: Store, Service {
    /// Readers, each with a thread and a connection of its own.
    private static let readerCount = 2
    /// The number of commits between two checkpoints.
    private static let commitsPerCheckpoint = 256

    /// Zero: there is one writer, and its queue is in the order of time.
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

    /// Opens the file; makes it and its tables first unless `opening` forbids it.
    ///
    /// - Throws: If it cannot be opened, is not a ledger, or would not be durable.
    package init(path: String, _ opening: Opening = .migrating) throws(LedgerError) {
        let wal = WALState(waking: checkpointIsDue)
        self.wal = wal
        (onlyWriter, readers, checkpointer) = try wrapping(.cannotOpen) {
            // The writer comes first: it makes the file that the others open.
            let writer = try SQLiteWriter(path: path, opening, wal: wal)
            let readers = try (0..<Self.readerCount).map { _ in try SQLiteReader(path: path) }
            return (writer, readers, try SQLiteCheckpointer(path: path))
        }
    }

    package func commit(_ batch: Batch) async throws(LedgerError) -> Effects {
        let effects = try await wrapping(.tryAgain) { try await writer.commit(batch) }
        if !effects.isEmpty { countCommit() }
        return effects
    }

    package func read<Query: StoreQuery>(
        _ query: Query
    ) async throws(LedgerError) -> Query.Result {
        try wal.check()
        let next = turn.add(1, ordering: .relaxed).newValue
        let reader = readers[Int(UInt(bitPattern: next) % UInt(readers.count))]
        return try await wrapping(.tryAgain) { try await reader.read(query) }
    }

    /// Runs on the writer's connection: two writers in one process would only wait for each other's
    /// lock.
    package func change<Query: StoreQuery>(
        _ query: Query
    ) async throws(LedgerError) -> Query.Result {
        try await wrapping(.tryAgain) { try await writer.change(query) }
    }

    /// Makes this process the only one that serves the file or changes its tables, until it ends;
    /// makes the file if there is none. Must be called before the file is opened for that.
    ///
    /// A second server would neither learn of the first one's changes nor know what the disk failed
    /// to store; and tables must not change under a running server.
    ///
    /// - Throws: `inUse` if another process has it.
    package static func claim(path: String) throws(LedgerError) {
        BookFile.makePrivate(path)
        try BookFile.claim(path)
    }

    /// Makes sure that the log, as it was found, is on the disk. A server must call it before its
    /// first commit.
    package func renewLog() async throws(LedgerError) {
        try await wrapping(.cannotOpen) { try await writer.renewLog() }
    }

    /// Keeps the log short until the program ends.
    ///
    /// - Throws: If the log is untrusted, and the program must end.
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

    /// Makes a checkpoint. A failure loses nothing: the log keeps its pages, and the next
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
