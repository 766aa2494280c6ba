package import Ledger
internal import SQLite
internal import ServiceLifecycle
internal import Synchronization

/// The ledger in one SQLite file.
///
/// Run as a service it also moves what was committed from the log into the file, outside of any
/// commit; everything else works without that.
package final class SQLiteStore: Store, Service {
    /// Readers, each with a thread and a connection of its own.
    private static let readerCount = 2
    /// A checkpoint is made after this many commits.
    private static let commitsPerCheckpoint = 256

    /// There is one writer, and its queue is in the order of time.
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

    /// Opens the file; making it and its tables if need be, unless said otherwise.
    ///
    /// - Throws: If it cannot be opened, is not ours, or would not be durable.
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

    /// On the writer's connection: two writers in one process would only wait for each other's
    /// lock.
    package func change<Query: StoreQuery>(
        _ query: Query
    ) async throws(LedgerError) -> Query.Result {
        try await wrapping(.tryAgain) { try await writer.change(query) }
    }

    /// Makes this program the only one that serves the file or changes its tables, until it ends;
    /// the file is made if there is none. To be done before it is opened for that.
    ///
    /// A second server would neither hear what the first one does nor know what the disk did not
    /// take from it; and tables must not change under a server that runs.
    ///
    /// - Throws: `inUse` if another program has it.
    package static func claim(path: String) throws(LedgerError) {
        BookFile.makePrivate(path)
        try BookFile.claim(path)
    }

    /// Makes sure that the disk holds the log as it was found. To be done by a server before it
    /// commits anything.
    package func renewLog() async throws(LedgerError) {
        try await wrapping(.cannotOpen) { try await writer.renewLog() }
    }

    /// Keeps the log short until the program ends.
    ///
    /// - Throws: If the log is not to be believed any more, and the program should end.
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

    /// A checkpoint that fails loses nothing: the log keeps what it holds, and the next one
    /// retries.
    private func checkpoint() async {
        if let pages = try? await checkpointer.checkpoint() {
            try? await writer.shorten(logOf: pages)
        }
    }

    private var writer: SQLiteWriter {
        get throws(LedgerError) {
            try wal.check()
            return onlyWriter
        }
    }
}
