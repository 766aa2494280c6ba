/// One statement with its values and the callbacks for its results.
///
/// The prepared statement is cached, so `sql` must be constant text.
package struct Query {
    let sql: String
    let values: [Value]
    let read: (borrowing Row) throws -> Void
    /// Called with the number of rows that the statement changed.
    let changed: (Int) -> Void

    package init(
        _ sql: String,
        _ values: [Value] = [],
        read: @escaping (borrowing Row) throws -> Void = { _ in },
        changed: @escaping (Int) -> Void = { _ in }
    ) {
        self.sql = sql
        self.values = values
        self.read = read
        self.changed = changed
    }

    /// Begins a transaction in which each statement sees everything committed before it, regardless
    /// of the database's settings.
    package static var begin: Query { Query("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE") }

    /// Commits a transaction. If the result is lost, the outcome is unknown.
    package static var commit: Query { Query("COMMIT") }

    var isCommit: Bool { sql == "COMMIT" }
}
