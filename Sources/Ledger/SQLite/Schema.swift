internal import SQLite

/// The tables, as numbered steps that only ever go forward.
enum Schema {
    /// Marks a file as a ledger of ours (`PRAGMA application_id`): "gotc".
    static let applicationID: Int64 = 0x676F_7463

    /// Step n brings a file from version n-1 to n. A step that has been released never changes.
    private static let steps = [tables]

    static var newestVersion: Int64 { Int64(steps.count) }

    /// Brings the file to the newest version; nothing happens if it is there.
    ///
    /// - Throws: `LedgerError` with `foreign` for a newer file, or one that is not ours.
    static func migrate(_ connection: borrowing Connection) throws {
        try connection.transaction {
            let version = try checkedVersion(of: connection)
            for step in steps.dropFirst(Int(version)) { try connection.execute(step) }
            if version < newestVersion {
                try connection.execute("PRAGMA application_id = \(applicationID)")
                try connection.execute("PRAGMA user_version = \(newestVersion)")
            }
        }
    }

    /// Refuses a file that this program must not touch.
    ///
    /// - Returns: The file's version; 0 for an empty one.
    @discardableResult
    static func checkedVersion(of connection: borrowing Connection) throws -> Int64 {
        let version = try pragma("user_version", of: connection)
        let application = try pragma("application_id", of: connection)
        let tables = try connection.query("SELECT count(*) FROM sqlite_schema") {
            try $0.integer(0)
        }
        let isEmpty = version == 0 && application == 0 && tables == [0]
        guard isEmpty || application == applicationID else {
            throw LedgerError(
                .foreign,
                "The database belongs to another program.",
                fix: "Name a new file, or the file of a gotchu-server."
            )
        }
        guard version <= newestVersion else {
            throw LedgerError(
                .foreign,
                "The database was written by a newer gotchu-server.",
                fix: "Install that version, or restore a backup made before the update."
            )
        }
        return version
    }

    /// Refuses a file that has no books of this program's own version.
    static func requireNewest(_ connection: borrowing Connection) throws {
        try Opening.requireNewest(checkedVersion(of: connection), newest: newestVersion)
    }

    static func pragma(_ name: String, of connection: borrowing Connection) throws -> Int64 {
        try connection.query("PRAGMA \(name)") { try $0.integer(0) }.first ?? 0
    }

    /// A live session. Queries must spell it like the indexes to be served by them.
    ///
    /// SQLite makes a little table of the values of each `IN` list, anew for every row that it
    /// writes to such an index; comparisons cost nothing.
    static let isLive = "(status = 'CREATED' OR status = 'ADVERTISING' OR status = 'LOCKED')"
}
