internal import SQLite
internal import ServiceProcess

/// A read-only connection on its own thread: a slow reader never delays a payment.
actor SQLiteReader {
    private let executor: ThreadExecutor
    private let connection: Connection

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(path: String) throws {
        executor = ThreadExecutor(name: "ledger-reader")
        connection = try Connection(path: path, mode: .readOnly)
    }

    /// Runs a query on one snapshot.
    func read<Query: StoreQuery>(_ query: Query) throws -> Query.Result {
        try connection.snapshot { try query.run(on: connection) }
    }
}
