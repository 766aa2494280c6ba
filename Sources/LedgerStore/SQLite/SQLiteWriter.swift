internal import GotchuCore
internal import Ledger
internal import SQLite
internal import ServiceProcess

/// The one connection that writes, on a thread of its own.
actor SQLiteWriter {
    /// The number of pages of a write-ahead log from which on, although the checkpointer works, a
    /// commit waits for it to be emptied, so that the disk is not filled.
    private static let largestLog = 64_000

    /// The part of the file that is kept in memory, in KiB: payments touch pages all over it.
    private static let cacheSize = 64 * 1024

    private let executor: ThreadExecutor
    let connection: Connection
    private let path: String
    private let wal: WALState
    /// The files that it writes to, from its first transaction on: the log is there by then.
    private var files: BookFile.Identity?

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(path: String, _ opening: Opening, wal: WALState) throws {
        self.path = path
        self.wal = wal
        executor = ThreadExecutor(name: "ledger-writer")
        let makesFile = opening == .migrating
        if makesFile { BookFile.makePrivate(path) }
        connection = try Connection(path: path, mode: makesFile ? .create : .readWrite)
        // The order matters: the journal mode cannot change inside a transaction, and an existing
        // file of another program must be refused before anything is written to it.
        switch opening {
        case .migrating: try SQLiteSchema.checkedVersion(of: connection)
        case .asItIs: try LedgerError.requireCurrent(SQLiteSchema.checkedVersion(of: connection))
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

    /// Refuses to commit to files that nobody would find again: SQLite goes on with those that it
    /// has opened, wherever they are, while the next program opens what then has their names.
    private func requireInPlace() throws(LedgerError) {
        let found = BookFile.Identity(path)
        guard let files else { return files = found }
        guard found == files else {
            throw LedgerError(
                .cannotOpen,
                "The file of the books, or its log, was moved away or replaced under the server: "
                    + "stop it first.",
                fix: "Stop the server, then restore."
            )
        }
    }

    /// Writes the log anew as it is and syncs it, while nobody else writes to it.
    ///
    /// It may be that of a program that ended because it could not be synced. What is found in it
    /// is believed now; what is committed behind it is lost with it, should the disk not hold it.
    func renewLog() throws {
        try transaction { try BookFile.renew("\(path)-wal") }
    }

    /// Loads, decides and writes in one transaction.
    func commit(_ batch: Batch) throws -> Effects {
        try transaction {
            var rows = Snapshot()
            var known = Footprint()
            for round in 1...Footprint.roundLimit {
                var footprint = batch.footprint(knowing: round == 1 ? nil : rows)
                if round == Footprint.roundLimit { footprint.asksAgain = false }
                let missing = footprint.subtracting(known)
                for step in Loading(footprint: missing, dialect: .sqlite).steps {
                    try step.run(on: connection, into: &rows)
                }
                if !footprint.asksAgain { break }
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

    /// Runs what others than the ledger write.
    func change<Query: StoreQuery>(_ query: Query) throws -> Query.Result {
        try transaction { try query.run(on: connection) }
    }

    /// Empties a log that has outgrown its bound, unless somebody still reads what is in it. Called
    /// between commits, none of which waits for a reader.
    func shorten(logOf pages: Int) throws {
        guard pages > Self.largestLog else { return }
        try connection.restartLog()
    }

    /// Reads back what the connection says about its promises: in WAL mode anything below
    /// FULL may forget acknowledged payments when the power fails (sqlite.org/pragma.html).
    static func assertDurable(_ connection: borrowing Connection) throws {
        let mode = try connection.query("PRAGMA journal_mode") { try $0.text(0) }
        let synchronous = try SQLiteSchema.pragma("synchronous", of: connection)
        guard mode == ["wal"], synchronous == 2 else {
            throw LedgerError(
                .notDurable,
                "The database would not promise to keep what it commits.",
                fix: "Keep the file on a local disk whose file system supports shared memory."
            )
        }
    }
}
