internal import CSQLite

/// A connection to a database file, closed when its owner is released.
///
/// It belongs to one thread at a time: keep it inside an actor that runs on a `ThreadExecutor`,
/// because every call may block on the disk.
package struct Connection: ~Copyable {
    private let handle: OpaquePointer
    private let busyTimeoutMilliseconds: Int32
    private let statements = StatementCache()

    /// The global configuration of SQLite, applied once at the program's first connection.
    private static let isConfigured = csqlite_allocate_pages_singly() == SQLITE_OK

    /// Opens a file.
    ///
    /// - Parameters:
    ///   - path: The file, or `:memory:`. Never read as a URI.
    ///   - mode: The access to the file.
    ///   - busyTimeoutMilliseconds: The longest time that a call waits for another process's lock.
    package init(
        path: String,
        mode: Mode,
        busyTimeoutMilliseconds: Int32 = 5_000
    ) throws(SQLiteError) {
        precondition(Self.isConfigured, "SQLite is configured before its first use")
        var handle: OpaquePointer?
        let flags = mode.flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        let code = sqlite3_open_v2(path, &handle, flags, nil)
        guard code == SQLITE_OK, let handle else {
            let error =
                handle.map { SQLiteError(code, on: $0, sql: nil) }
                ?? SQLiteError(code: ResultCode(rawValue: code), message: "out of memory")
            sqlite3_close_v2(handle)
            throw SQLiteError(code: error.code, message: "\(path): \(error.message)")
        }
        self.handle = handle
        self.busyTimeoutMilliseconds = busyTimeoutMilliseconds
        sqlite3_busy_timeout(handle, busyTimeoutMilliseconds)
    }

    deinit {
        sqlite3_close_v2(handle)
    }

    /// Restarts the write-ahead log (WAL) from its beginning, so that it does not grow without
    /// limit. Does not wait: while a reader holds an older snapshot, the log keeps growing.
    package borrowing func restartLog() throws(SQLiteError) {
        sqlite3_busy_timeout(handle, 0)
        defer { sqlite3_busy_timeout(handle, busyTimeoutMilliseconds) }
        try execute("PRAGMA wal_checkpoint(RESTART)")
    }

    /// Runs a script of statements without parameters or results, such as schemas and pragmas.
    package borrowing func execute(_ script: String) throws(SQLiteError) {
        let code = sqlite3_exec(handle, script, nil, nil, nil)
        guard code == SQLITE_OK else { throw SQLiteError(code, on: handle, sql: script) }
    }

    /// Runs one statement that returns no rows, and returns the number of changed rows.
    ///
    /// The compiled statement is cached, so `sql` must be constant text.
    @discardableResult
    package borrowing func run(_ sql: String, _ values: [Value] = []) throws -> Int {
        try statements.statement(sql, on: handle).run(values) { _ in }
        return Int(sqlite3_changes(handle))
    }

    /// Runs one statement and returns the results of `read` for its rows.
    package borrowing func query<Element>(
        _ sql: String,
        _ values: [Value] = [],
        read: (borrowing Row) throws -> Element
    ) throws -> [Element] {
        var elements: [Element] = []
        try statements.statement(sql, on: handle).run(values) { row in
            elements.append(try read(row))
        }
        return elements
    }

    /// Runs `body` in one transaction that takes the write lock at its start; rolls back if it
    /// throws.
    package borrowing func transaction<Result>(_ body: () throws -> Result) throws -> Result {
        try within("BEGIN IMMEDIATE", body)
    }

    /// Runs `body` on one snapshot of the database.
    package borrowing func snapshot<Result>(_ body: () throws -> Result) throws -> Result {
        try within("BEGIN", body)
    }

    private borrowing func within<Result>(
        _ begin: String,
        _ body: () throws -> Result
    ) throws -> Result {
        try run(begin)
        do {
            let result = try body()
            try commit()
            return result
        } catch {
            // After a failed COMMIT or on a full disk, SQLite may have rolled back already.
            if sqlite3_get_autocommit(handle) == 0 { try run("ROLLBACK") }
            throw error
        }
    }

    private borrowing func commit() throws {
        do { try run("COMMIT") } catch let error as SQLiteError { throw error.inCommit() }
    }

    /// Copies a snapshot of the whole database into `destination`.
    ///
    /// Copies in one step, which blocks no writer in WAL mode. A copy in several steps would start
    /// over after each commit by another connection.
    package borrowing func backup(to destination: borrowing Connection) throws(SQLiteError) {
        guard let backup = sqlite3_backup_init(destination.handle, "main", handle, "main") else {
            throw SQLiteError(sqlite3_errcode(destination.handle), on: destination.handle, sql: nil)
        }
        let code = sqlite3_backup_step(backup, -1)
        let finished = sqlite3_backup_finish(backup)
        guard code == SQLITE_DONE, finished == SQLITE_OK else {
            throw SQLiteError(
                code: ResultCode(rawValue: code),
                message: "the copy did not finish"
            )
        }
    }
}

extension Connection {
    /// The access that a connection has to its file.
    package enum Mode: Sendable {
        /// Read and write; creates the file if it does not exist.
        case create
        /// Read and write a file that exists.
        case readWrite
        /// Read a file that exists.
        case readOnly

        fileprivate var flags: Int32 {
            switch self {
            case .create: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
            case .readWrite: SQLITE_OPEN_READWRITE
            case .readOnly: SQLITE_OPEN_READONLY
            }
        }
    }
}

extension SQLiteError {
    /// Creates an error with the connection's description of the call that just failed.
    init(_ code: Int32, on connection: OpaquePointer, sql: String?) {
        self.init(
            code: ResultCode(rawValue: code),
            message: sqlite3_errmsg(connection).map { String(cString: $0) } ?? "unknown",
            sql: sql
        )
    }
}
