package import GotchuCore
package import Ledger
package import Logging
internal import Postgres
internal import ServiceLifecycle
internal import Synchronization

/// The ledger in a PostgreSQL database, which several servers may share.
///
/// As a service it also receives other servers' changes; everything else works without it.
package final class PostgreSQLStore: Store, Service {
    /// The number of readers, each with its own thread and connection. The last one runs only heavy
    /// queries.
    private static let readerCount = 4
    /// The interval at which the database's clock and replicas are checked.
    private static let checkInterval: Duration = .seconds(2)
    /// The pause before listening is retried while the database is unreachable.
    private static let relistening: Duration = .milliseconds(200)

    /// The delay between a session's expiry and the recording of it. A payment that another server
    /// accepted in time may still be on its way to the database. Two machines' readings of the
    /// database's clock also differ a little.
    package let expiryMargin: Duration = .seconds(2)
    /// The changes by other servers.
    package let changes: ChangeMailbox? = ChangeMailbox()

    private let health: DatabaseHealth
    private let settings: ConnectionSettings
    private let writer: PostgreSQLWriter
    /// The writer for devices and the outbox, separate so that they never delay payments. Connects
    /// at its first use.
    private let sideWriter: PostgreSQLWriter
    private let readers: [PostgreSQLReader]
    private let logger: Logger
    private let turn = Atomic<Int>(0)

    /// Connects, creates missing tables, and tests the engine's properties. With `existingSchema`,
    /// it only connects and checks.
    ///
    /// Blocks until the database has answered.
    ///
    /// - Parameter url: A libpq URL: `postgres://USER@HOST,HOST/DATABASE`.
    /// - Throws: If the database cannot be reached, is not a ledger, or would not be durable.
    package init(
        url: String,
        _ opening: OpenMode = .migrating,
        logger: Logger
    ) throws(LedgerError) {
        let settings = try translatingErrors(.cannotOpen) { try Self.settings(url, logger: logger) }
        let health = DatabaseHealth(logger: logger)
        try translatingErrors(.cannotOpen) {
            let connection = try Connection(settings)
            let other = try Connection(settings)
            try PostgreSQLPooler.requireNone(connection, other)
            try health.check(on: connection)
            switch opening {
            case .existingSchema:
                try LedgerError.requireCurrent(PostgreSQLSchema.checkedVersion(of: connection))
            case .migrating:
                try PostgreSQLSchema.migrate(connection)
                try PostgreSQLRights.require(connection)
                try Self.verifyDurability(of: connection, settings, logger: logger)
            }
        }
        self.health = health
        self.settings = settings
        self.logger = logger
        writer = PostgreSQLWriter(settings, logger: logger)
        sideWriter = PostgreSQLWriter(
            settings,
            logger: logger,
            name: "ledger-side",
            prepare: PostgreSQLSession.prepareForChanges
        )
        readers = (0..<Self.readerCount).map { _ in PostgreSQLReader(settings, logger: logger) }
    }

    private static func verifyDurability(
        of first: borrowing Connection,
        _ settings: ConnectionSettings,
        logger: Logger
    ) throws {
        try PostgreSQLSession.prepare(first)
        let second = try Connection(settings)
        try PostgreSQLSession.prepare(second)
        try PostgreSQLProbe.run(first, second)
        let durability = try PostgreSQLSession.assertDurable(first)
        logger.notice("The database is durable.", metadata: durability.metadata)
    }

    /// Brings the tables of a database up to date.
    ///
    /// - Returns: The new version.
    package static func migrate(url: String, logger: Logger) throws(LedgerError) -> Int64 {
        try translatingErrors(.cannotOpen) {
            let connection = try Connection(try settings(url, logger: logger))
            try PostgreSQLSchema.migrate(connection)
            return try PostgreSQLSchema.checkedVersion(of: connection)
        }
    }

    /// Distributes the tables of a database over the servers of a cluster.
    ///
    /// - Returns: The number of servers that store rows.
    package static func distribute(url: String, logger: Logger) throws(LedgerError) -> Int64 {
        try translatingErrors(.cannotOpen) {
            let connection = try Connection(try settings(url, logger: logger))
            return try Distribution.distribute(connection, logger: logger)
        }
    }

    private static func settings(_ url: String, logger: Logger) throws -> ConnectionSettings {
        let settings = try ConnectionSettings(url: url)
        if settings.holdsPassword {
            logger.warning(
                "Everybody on this machine can read the password in the database's URL."
            )
        }
        return settings
    }

    package func commit(_ batch: Batch) async throws(LedgerError) -> Effects {
        try health.requireDurable()
        return try await translatingErrors(.tryAgain) { try await writer.commit(batch) }
    }

    package func read<Query: StoreQuery>(
        _ query: Query
    ) async throws(LedgerError) -> Query.Result {
        let next = turn.add(1, ordering: .relaxed).newValue
        let light = Int(UInt(bitPattern: next) % UInt(readers.count - 1))
        let reader = readers[Query.isHeavy ? readers.count - 1 : light]
        return try await translatingErrors(.tryAgain) { try await reader.read(query) }
    }

    package func change<Query: StoreQuery>(
        _ query: Query
    ) async throws(LedgerError) -> Query.Result {
        try await translatingErrors(.tryAgain) { try await sideWriter.change(query) }
    }

    package func notify(noticed record: RecordID) async throws(LedgerError) {
        try await translatingErrors(.tryAgain) {
            try await readers[0].notify(PostgreSQLNotice.query(noticing: record))
        }
    }

    package var now: Timestamp { health.now }
    package var mayReadUnreplicated: Bool { health.hasReplica }

    /// Checks the database's clock, replicas, durability settings, and the version of its tables.
    func checkHealth() async throws(LedgerError) {
        try await translatingErrors(.tryAgain) {
            do {
                // Always the same connection: after a reload of `synchronous_commit` each
                // connection has its own value, and payments would be accepted and refused in turn.
                try await readers[0].check(health)
                let version = Select<Int64>(PostgreSQLSchema.version)
                health.record(version: try await readers[0].read(version).first ?? 0)
            } catch let error as LedgerError where error.code == .notDurable {
                // A new connection was refused for its settings; existing connections do not show
                // them.
                health.record(isUnsafe: true)
                throw error
            }
        }
    }

    /// Listens to the other servers, and checks the database, until the program ends.
    package func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask {
                await cancelWhenGracefulShutdown {
                    while !Task.isCancelled {
                        // No notification is sent when a replica connects or disconnects, or when a
                        // clock is set.
                        try? await Task.sleep(for: Self.checkInterval)
                        // The last known state holds until the database answers again.
                        try? await self.checkHealth()
                    }
                }
            }
            await listen()
        }
    }

    private func listen() async {
        let waker = Waker()
        let listener = PostgreSQLListener(settings, waker: waker, logger: logger)
        await withTaskCancellationOrGracefulShutdownHandler {
            while !Task.isCancelled, !Task.isShuttingDownGracefully {
                do {
                    changes?.put(try await listener.next())
                } catch {
                    await cancelWhenGracefulShutdown {
                        // No notification is sent when the database is back.
                        try? await Task.sleep(for: Self.relistening)
                    }
                }
            }
        } onCancelOrGracefulShutdown: {
            waker.wake()
        }
    }

    /// Returns a secret that all servers of the database share; the first call creates it.
    ///
    /// - Parameter proposal: The secret to store if there is none yet.
    package func secret(
        _ name: String,
        proposal: [UInt8]
    ) async throws(LedgerError) -> [UInt8] {
        try await translatingErrors(.cannotOpen) {
            try await writer.secret(name, proposal: proposal)
        }
    }
}
