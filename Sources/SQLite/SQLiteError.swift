/// An error from an SQLite call.
package struct SQLiteError: Error, Equatable, Sendable {
    /// SQLite's extended result code.
    package let code: ResultCode
    /// SQLite's message. For display only; never compared.
    package let message: String
    /// The statement, if there was one. It contains no values, because those are always bound.
    package let sql: String?
    /// A Boolean that is true if a COMMIT failed so late that the transaction may turn out to be
    /// committed when the file is next opened.
    package private(set) var mayBeCommitted = false

    package init(code: ResultCode, message: String, sql: String? = nil) {
        self.code = code
        self.message = message
        self.sql = sql
    }

    /// Returns this error as that of a COMMIT, with `mayBeCommitted` set accordingly.
    ///
    /// In WAL mode a COMMIT writes the pages, ending with a commit mark, and then syncs (wal.c,
    /// `sqlite3WalFrames`). If anything fails after the mark, this connection discards the pages,
    /// but they stay in the file, and the next reader of the log treats them as committed. Only the
    /// failures listed here are known to happen before the mark.
    func inCommit() -> SQLiteError {
        var error = self
        error.mayBeCommitted =
            switch code.primary {
            case .busy, .full, .constraint: false
            default: code != .ioErrorWrite
            }
        return error
    }
}

extension SQLiteError: CustomStringConvertible {
    /// The maximum length of a quoted statement; those that create tables are pages long.
    private static let maximumStatementLength = 300

    package var description: String {
        let place = sql.map { " in: \($0.prefix(Self.maximumStatementLength))" } ?? ""
        // SQLite's message is often just the description of the code.
        let detail = message.hasSuffix(code.meaning) ? "(\(code.rawValue))" : "[\(code)]"
        return "SQLite: \(message) \(detail)\(place)"
    }
}
