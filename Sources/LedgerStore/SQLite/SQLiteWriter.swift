internal import GotchuCore
internal import Ledger
internal import SQLite
internal import ServiceProcess

/// The only writing connection, on its own thread.
actor SQLiteWriter {
    /// The number of log pages above which a commit waits until the log is emptied, so that it does
    /// not fill the disk even if the checkpointer falls behind.
    private static let largestLog = 64_000

    /// The page cache in KiB: payments touch pages all over the file.
    private static let cacheSize = 64 * 1024

    private let executor: ThreadExecutor
    let connection: Connection
    private let path: String
    private let wal: WALState
    /// The files that it writes to; set by the first transaction, when the log exists.
    private var files: DatabaseFile.Identity?

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(path: String, _ opening: OpenMode, wal: WALState) throws {
        self.path = path
        self.wal = wal
        executor = ThreadExecutor(name: "ledger-writer")
        let makesFile = opening == .migrating
        if makesFile { DatabaseFile.makePrivate(path) }
        connection = try Connection(path: path, mode: makesFile ? .create : .readWrite)
        // The order matters: the journal mode cannot change inside a transaction, and another
        // program's file must be refused before anything is written to it.
        switch opening {
        case .migrating: try SQLiteSchema.checkedVersion(of: connection)
        case .existingSchema:
            try LedgerError.requireCurrent(SQLiteSchema.checkedVersion(of: connection))
        }
        try connection.execute(
            """
            PRAGMA journal_mode = WAL;
            PRAGMA synchronous = FULL;
            PRAGMA wal_autocheckpoint = 0;
            PRAGMA cache_size = -\(Self.cacheSize);
            """
        )
        try Self.assertDurable(connection)
        if opening == .migrating { try SQLiteSchema.migrate(connection) }
    }

    /// Runs `body` in one durable transaction.
    func transaction<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try connection.transaction {
                let result = try body()
                try requireInPlace()
                return result
            }
        } catch let error as SQLiteError where error.mayBeCommitted {
            wal.markUntrusted()
            throw error
        }
    }

    /// Throws if the files were moved or replaced: SQLite keeps writing to the files it opened,
    /// while the next process would open those at the path.
    private func requireInPlace() throws(LedgerError) {
        let found = DatabaseFile.Identity(path)
        guard let files else { return files = found }
        guard found == files else {
            throw LedgerError(
                .cannotOpen,
                "The database file or its log was moved or replaced while the server runs. "
                    + "Nothing was written.",
                fix: "Stop the server, then restore."
            )
        }
    }

    /// Writes the log over itself and syncs it, in a transaction, so that no one else writes to it.
    ///
    /// The process that wrote this log may have failed to sync it. Its content is trusted from now
    /// on; if it were not on disk, later commits would be lost too.
    func resyncLog() throws {
        try transaction { try DatabaseFile.resync("\(path)-wal") }
    }

    /// Loads, decides and writes in one transaction.
    func commit(_ batch: Batch) throws -> Effects {
        try transaction {
            var rows = Snapshot()
            var known = Footprint()
            for round in 1...Footprint.roundLimit {
                var footprint = batch.footprint(knowing: round == 1 ? nil : rows)
                if round == Footprint.roundLimit { footprint.needsAnotherRound = false }
                let missing = footprint.subtracting(known)
                for step in Loading(footprint: missing, dialect: .sqlite).steps {
                    try step.run(on: connection, into: &rows)
                }
                if !footprint.needsAnotherRound { break }
                known = footprint
            }
            let effects = batch.decide(on: rows)
            let saving = Saving(effects, loaded: rows)
            for write in try saving.writes() { try write.run(on: connection) }
            for record in saving.done {
                try connection.run(
                    Saving.removal,
                    [SQLValue.text(record.owner.rawValue), .text(record.id.rawValue)]
                )
            }
            if let time = effects.probedAt {
                try connection.run(Effects.probe, [SQLValue.integer(time.milliseconds)])
            }
            return effects
        }
    }

    /// Runs a change of a table that does not belong to the ledger.
    func change<Query: StoreQuery>(_ query: Query) throws -> Query.Result {
        try transaction { try query.run(on: connection) }
    }

    /// Empties a log that has grown beyond its limit, unless a reader still uses it. Called between
    /// commits, so that no commit waits for a reader.
    func emptyLog(pages: Int) throws {
        guard pages > Self.largestLog else { return }
        try connection.restartLog()
    }

    /// Reads back the connection's durability settings: in WAL mode anything below FULL may lose
    /// acknowledged payments when the power fails (sqlite.org/pragma.html).
    static func assertDurable(_ connection: borrowing Connection) throws {
        let mode = try connection.query("PRAGMA journal_mode") { try $0.text(0) }
        let synchronous = try SQLiteSchema.pragma("synchronous", of: connection)
        guard mode == ["wal"], synchronous == 2 else {
            throw LedgerError(
                .notDurable,
                "The database is not configured to keep what it commits.",
                fix: "Keep the file on a local disk whose file system supports shared memory."
            )
        }
    }
}
