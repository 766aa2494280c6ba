internal import Logging
internal import Postgres
internal import ServiceProcess

/// A connection that writes, on a thread of its own.
actor PostgreSQLWriter: SideWriter {
    /// How often a batch is decided anew before its callers are told to try again.
    private static let longestTry = 8

    private let executor: ThreadExecutor
    let link: PostgreSQLLink
    private let logger: Logger

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(_ settings: ConnectionSettings, logger: Logger, name: String = "ledger-writer") {
        executor = ThreadExecutor(name: name)
        link = PostgreSQLLink(
            settings,
            logger: logger,
            prepare: PostgreSQLSession.prepareForWriting
        )
        self.logger = logger
    }

    /// Loads, decides and writes in one transaction: a round trip to load and one to write.
    ///
    /// What was lost against another server, or with its connection before the COMMIT was sent, is
    /// decided anew on the rows as they are then. Of a batch that has waited too long for a row,
    /// only the commands that need such a row are not decided.
    func commit(
        touching footprint: Footprint,
        decide: @Sendable (Snapshot) -> Decision
    ) throws -> Decision {
        var attempt = 1
        var isPassingHeld = false
        while true {
            do {
                return try link.use { connection in
                    let load = PostgreSQLLoad(footprint, isPassingHeld: isPassingHeld)
                    let rows = try load.run(on: connection)
                    let decision = decide(rows)
                    try PostgreSQLSave(decision.effects, loaded: rows).run(on: connection)
                    return decision
                }
            } catch let error as PostgresError {
                let isHeld = error.state == .lockNotAvailable && !isPassingHeld
                guard isHeld || error.isWorthRepeating, attempt < Self.longestTry else {
                    throw error
                }
                attempt += 1
                isPassingHeld = isPassingHeld || isHeld
                logger.info("A batch is decided anew.", metadata: ["error": "\(error)"])
            }
        }
    }

    /// Hands `body` the connection within a transaction on tables of this program's version, for
    /// what is written beside payments. To commit or to roll back is the body's.
    ///
    /// - Throws: `LedgerError` with `foreign` if a newer program has changed the tables: one that
    ///   changes them meanwhile waits for the end of this.
    func write<Result>(_ body: (borrowing Connection) throws -> Result) throws -> Result {
        try link.use { connection in
            var version: Int64 = 0
            try connection.run([
                .begin, Query(PostgreSQLSchema.version) { version = try $0.integer(0) },
            ])
            guard version <= PostgreSQLSchema.newestVersion else { throw LedgerError.outdated }
            return try body(connection)
        }
    }

    /// A secret that all servers of one database share, made by the first that asks for it.
    ///
    /// - Parameter proposal: What it shall be if there is none yet.
    func secret(_ name: String, proposal: [UInt8]) throws -> [UInt8] {
        try link.use { connection in
            var secret: [UInt8]?
            try connection.run([
                Query(
                    """
                    INSERT INTO secrets (name, secret) VALUES ($1, $2)
                    ON CONFLICT (name) DO NOTHING
                    """,
                    [.text(name), .bytes(proposal)]
                ),
                Query("SELECT secret FROM secrets WHERE name = $1", [.text(name)]) { row in
                    secret = try row.blob(0)
                },
            ])
            guard let secret else {
                throw PostgresError(.corrupt, message: "a secret was not kept")
            }
            return secret
        }
    }
}
