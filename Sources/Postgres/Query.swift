/// One statement with its values and the handler of its rows.
///
/// The prepared statement is kept for the next time, so `sql` must be constant text.
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

    /// Begins a transaction in which each statement sees what was committed before it, whatever the
    /// database's own settings are.
    package static var begin: Query { Query("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE") }

    /// Ends a transaction durably. If its answer is lost, the outcome is unknown.
    package static var commit: Query { Query("COMMIT") }

    var isCommit: Bool { sql == "COMMIT" }
}
