/// A column whose every value must be the name of a row in another table.
struct Reference {
    let table: String
    /// What tells the table's rows apart.
    let key: String
    let column: String
    let parent: String
    var parentColumn = "id"

    /// Those that payments and seals write and that the database does not watch over: it looks for
    /// the row that each new one leads to, which the writer has loaded and locked in the same
    /// transaction, or writes in it.
    static let unwatched = [
        Reference(table: "entries", key: "wallet_id", column: "wallet_id", parent: "wallets"),
        Reference(table: "entries", key: "wallet_id", column: "transfer_id", parent: "transfers"),
        Reference(table: "seals", key: "number", column: "transfer_id", parent: "transfers"),
        Reference(table: "sends", key: "user_id", column: "transfer_id", parent: "transfers"),
        Reference(table: "sends", key: "user_id", column: "user_id", parent: "users"),
        Reference(table: "transfers", key: "id", column: "session_id", parent: "sessions"),
        Reference(table: "transfers", key: "id", column: "user_id", parent: "users"),
    ]

    /// Which row leads nowhere?
    var firstBroken: String {
        """
        SELECT 'table \(table), row ' || child.\(key) || ': \(column) ' || child.\(column)
            || ' is missing in \(parent)'
        FROM \(table) AS child LEFT JOIN \(parent) AS parent
            ON parent.\(parentColumn) = child.\(column)
        WHERE child.\(column) IS NOT NULL AND parent.\(parentColumn) IS NULL LIMIT 1
        """
    }
}
