internal import GotchuCore
internal import Ledger
internal import Logging
internal import Postgres
internal import ServiceProcess

/// A writing connection on its own thread.
actor PostgreSQLWriter {
    /// The number of attempts at a batch before its callers are told to try again.
    private static let attemptLimit = 8

    private let executor: ThreadExecutor
    private let link: PostgreSQLLink
    private let logger: Logger
    /// The number of the connection on which the last seal was committed.
    private var knownConnection = 0

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(
        _ settings: ConnectionSettings,
        logger: Logger,
        name: String = "ledger-writer",
        prepare: @escaping (borrowing Connection) throws -> Void =
            PostgreSQLSession.prepareForWriting
    ) {
        executor = ThreadExecutor(name: name)
        link = PostgreSQLLink(settings, logger: logger, prepare: prepare)
        self.logger = logger
    }

    /// Loads, decides and writes in one transaction: one round trip to load and one to write.
    ///
    /// If a batch conflicts with another server, or loses its connection before the COMMIT is sent,
    /// it is decided again on freshly loaded rows. If a batch waits too long for a row, only the
    /// commands that need such a row stay undecided.
    func commit(_ batch: Batch) throws -> Effects {
        var attempt = 1
        var skipsLocked = false
        while true {
            do {
                return try link.use { connection in
                    let rows = try load(batch, skipsLocked: skipsLocked, on: connection)
                    let effects = batch.decide(on: rows)
                    try save(effects, loaded: rows, on: connection)
                    if effects.seal != nil { knownConnection = link.connectionCount }
                    return effects
                }
            } catch let error as PostgresError {
                let isHeld = error.state == .lockNotAvailable && !skipsLocked
                guard isHeld || error.allowsRetry, attempt < Self.attemptLimit else {
                    throw error
                }
                attempt += 1
                skipsLocked = skipsLocked || isHeld
                logger.info("A batch is decided again.", metadata: ["error": "\(error)"])
            }
        }
    }

    /// Begins a transaction and loads a batch's footprint, in one round trip if the commands know
    /// all of it in advance.
    ///
    /// - Throws: `LedgerError` with `foreign` if a newer program has changed the tables: they
    ///   contain more than this program would write.
    private func load(
        _ batch: Batch,
        skipsLocked: Bool,
        on connection: borrowing Connection
    ) throws -> Snapshot {
        let rows = LoadedRows(Snapshot())
        var known = Footprint()
        for round in 1...Footprint.roundLimit {
            var footprint = batch.footprint(knowing: round == 1 ? nil : rows.snapshot)
            if round == Footprint.roundLimit { footprint.needsAnotherRound = false }
            // On a new connection the chain may end differently: a replica may have taken over.
            if round == 1, link.connectionCount != knownConnection {
                footprint.needsNewestSeal = true
            }
            var loading = Loading(
                footprint: footprint.subtracting(known),
                dialect: connection.dialect,
                skipsLocked: skipsLocked
            )
            // The version is read before anything else. A migration locks the table that contains
            // it: this transaction waits for a migration in progress, and the next migration waits
            // for this transaction.
            var queries = round > 1 ? [] : beginning(on: connection, into: rows)
            let end = Result {
                queries += loading.locatedSteps.map { $0.query(into: rows) }
                if connection.isDistributed, loading.isLocating {
                    try connection.run(queries)
                    queries = []
                    loading.locate(in: rows.snapshot)
                }
                try connection.run(queries + loading.laterSteps.map { $0.query(into: rows) })
            }
            // Newer tables may have caused a failure: report the version first.
            guard rows.version <= Schema.version else { throw LedgerError.outdated }
            try end.get()
            if !footprint.needsAnotherRound { break }
            known = footprint
        }
        return rows.snapshot
    }

    private func beginning(
        on connection: borrowing Connection,
        into rows: LoadedRows
    ) -> [Query] {
        let version = Query(PostgreSQLSchema.version) { rows.version = try $0.integer(0) }
        let limit = connection.isDistributed ? [PostgreSQLSession.lockLimit] : []
        return [.begin] + limit + [version]
    }

    /// Writes the effects and commits them, in one round trip.
    private func save(
        _ effects: Effects,
        loaded: Snapshot,
        on connection: borrowing Connection
    ) throws {
        let saving = Saving(effects, loaded: loaded)
        var queries = try saving.writes().flatMap { $0.queries(for: connection.dialect) }
        queries += Self.removal(of: saving.done, connection.dialect)
        if let time = effects.probedAt {
            queries.append(Query(Effects.probe, [.integer(time.milliseconds)]))
        }
        let notice = PostgreSQLNotice.query(of: saving.changedRecords, saving.changedWallets)
        if let notice { queries.append(notice) }
        try connection.run(queries + [.commit])
    }

    /// Returns statements that delete rows of `due` one by one. LIMIT prevents a join. The table is
    /// empty every night: a join plan that was cached then would compare each record with every row
    /// during the day. A row's `ctid` does not change meanwhile, because only the holder of its
    /// record's lock changes the row.
    static func removal(of records: [Record], _ dialect: Dialect) -> [Query] {
        guard !records.isEmpty else { return [] }
        guard dialect != .distributed else {
            return records.map { record in
                Query(Saving.removal, [.text(record.owner.rawValue), .text(record.id.rawValue)])
            }
        }
        let removal = Query(
            """
            DELETE FROM due WHERE ctid = ANY (ARRAY(
                SELECT found.ctid FROM unnest($1::text[], $2::text[]) AS done (owner, record)
                CROSS JOIN LATERAL (
                    SELECT ctid FROM due
                    WHERE due.owner = done.owner AND due.record = done.record LIMIT 1
                ) AS found
            ))
            """,
            [.texts(records.map(\.owner.rawValue)), .texts(records.map(\.id.rawValue))]
        )
        return [removal]
    }

    /// Runs a change outside the ledger in one transaction, on tables of this program's version.
    ///
    /// - Throws: `LedgerError` with `foreign` if a newer program has changed the tables. A
    ///   migration waits for the end of this transaction.
    func change<Change: StoreQuery>(_ change: Change) throws -> Change.Result {
        try link.use { connection in
            let rows = LoadedRows(Snapshot())
            try connection.run(beginning(on: connection, into: rows))
            guard rows.version <= Schema.version else { throw LedgerError.outdated }
            let result = try change.run(on: connection)
            // Receivers act on the events that a change returns. The COMMIT first ensures that
            // these are durable.
            try connection.run([.commit])
            return result
        }
    }

    /// Returns a secret that all servers of one database share; the first call creates it.
    ///
    /// - Parameter proposal: The secret to store if there is none yet.
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
