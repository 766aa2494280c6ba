/// A failed call of SQLite.
package struct SQLiteError: Error, Equatable, Sendable {
    /// SQLite's extended result code.
    package let code: ResultCode
    /// SQLite's message. For people, never matched on.
    package let message: String
    /// The statement, if there was one. It holds no values: those are always bound.
    package let sql: String?
    /// A Boolean that is true if it happened so late in a COMMIT that the transaction may prove
    /// committed when the file is next opened.
    package private(set) var mayBeCommitted = false

    package init(code: ResultCode, message: String, sql: String? = nil) {
        self.code = code
        self.message = message
        self.sql = sql
    }

    /// Marks a failure of a COMMIT.
    ///
    /// With a log (WAL) a COMMIT writes the pages, the mark that commits them last, and then syncs
    /// (wal.c, `sqlite3WalFrames`). If anything fails after the mark, this connection forgets the
    /// pages, but they stay in the file, and the next reader of the log takes them for committed.
    /// Only these failures are known to come before the mark.
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
    /// The part of a statement that is quoted; those that make tables are pages long.
    private static let longestStatement = 300

    package var description: String {
        let place = sql.map { " in: \($0.prefix(Self.longestStatement))" } ?? ""
        // Often SQLite's message is only the meaning of the code.
        let detail = message.hasSuffix(code.meaning) ? "(\(code.rawValue))" : "[\(code)]"
        return "SQLite: \(message) \(detail)\(place)"
    }
}
