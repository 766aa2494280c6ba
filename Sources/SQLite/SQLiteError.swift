/// A call of SQLite that failed.
package struct SQLiteError: Error, Equatable, Sendable {
    /// What went wrong, with SQLite's detail.
    package let code: ResultCode
    /// What SQLite said about it. For people, never to be matched on.
    package let message: String
    /// The statement it happened in, if there was one. It holds no values: those are always bound.
    package let sql: String?

    package init(code: ResultCode, message: String, sql: String? = nil) {
        self.code = code
        self.message = message
        self.sql = sql
    }
}

extension SQLiteError: CustomStringConvertible {
    package var description: String {
        let place = sql.map { " in: \($0)" } ?? ""
        return "SQLite: \(message) [\(code)]\(place)"
    }
}
