internal import SQLite
internal import ServiceProcess

/// Moves committed pages from the log into the database file, concurrently with the writer and
/// outside any commit. A checkpoint within a commit would delay its payments.
actor SQLiteCheckpointer {
    private let executor: ThreadExecutor
    private let connection: Connection

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(path: String) throws {
        executor = ThreadExecutor(name: "ledger-checkpnt")
        connection = try Connection(path: path, mode: .readWrite)
    }

    /// Copies as many pages as possible without blocking readers or the writer.
    ///
    /// - Returns: The number of pages in the log.
    func checkpoint() throws -> Int {
        try connection.query("PRAGMA wal_checkpoint(PASSIVE)") { Int(try $0.integer(1)) }
            .first ?? 0
    }
}
