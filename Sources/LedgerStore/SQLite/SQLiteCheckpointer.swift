internal import SQLite
internal import ServiceProcess

/// Moves committed pages from the log into the database, beside the writer and not within a commit:
/// done inline it is what makes the slowest payments slow.
actor SQLiteCheckpointer {
    private let executor: ThreadExecutor
    private let connection: Connection

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(path: String) throws {
        executor = ThreadExecutor(name: "ledger-checkpnt")
        connection = try Connection(path: path, mode: .readWrite)
    }

    /// Copies what it can without stopping anybody.
    ///
    /// - Returns: How many pages the log holds.
    func checkpoint() throws -> Int {
        try connection.query("PRAGMA wal_checkpoint(PASSIVE)") { Int(try $0.integer(1)) }
            .first ?? 0
    }
}
