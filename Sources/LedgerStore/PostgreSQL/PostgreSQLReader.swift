internal import Ledger
internal import Logging
internal import Postgres
internal import ServiceProcess

/// A connection for reading on its own thread: a slow reader never delays a payment.
actor PostgreSQLReader {
    private let executor: ThreadExecutor
    private let link: PostgreSQLLink

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(_ settings: ConnectionSettings, logger: Logger) {
        executor = ThreadExecutor(name: "ledger-reader")
        link = PostgreSQLLink(settings, logger: logger, prepare: PostgreSQLSession.prepare)
    }

    func check(_ health: DatabaseHealth) throws {
        try repeating { try health.check(on: $0) }
    }

    func read<Query: StoreQuery>(_ query: Query) throws -> Query.Result {
        try repeating { try query.run(on: $0) }
    }

    /// Sends a notification without storing anything.
    func notify(_ notice: Query) throws {
        try link.use { try $0.run([notice]) }
    }

    /// Runs `body`. If it fails and a retry may succeed, for instance after a failover, runs it
    /// once more.
    private func repeating<Result>(
        _ body: (borrowing Connection) throws -> Result
    ) throws -> Result {
        do {
            return try link.use(body)
        } catch let error as PostgresError where error.allowsRetry {
            return try link.use(body)
        }
    }
}
