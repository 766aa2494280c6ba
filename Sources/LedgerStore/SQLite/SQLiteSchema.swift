internal import Ledger
internal import SQLite

/// The tables in a file.
enum SQLiteSchema {
    /// The `PRAGMA application_id` of a ledger file: "gotc".
    static let applicationID: Int64 = 0x676F_7463

    /// Creates the tables unless they exist.
    ///
    /// - Throws: `LedgerError` with `foreign` for a newer file, or one that is not a ledger.
    static func migrate(_ connection: borrowing Connection) throws {
        try connection.transaction {
            guard try checkedVersion(of: connection) == 0 else { return }
            try connection.execute(Schema.tables(for: .sqlite))
            for table in Schema.guarded { try connection.execute(guarding(table)) }
            try connection.execute("PRAGMA application_id = \(applicationID)")
            try connection.execute("PRAGMA user_version = \(Schema.version)")
        }
    }

    /// Creates the triggers that reject updates and deletions of a table's rows.
    private static func guarding(_ table: String) -> String {
        """
        CREATE TRIGGER \(table)_stay BEFORE UPDATE ON \(table)
            BEGIN SELECT RAISE(ABORT, '\(table) are only ever inserted'); END;
        CREATE TRIGGER \(table)_are_kept BEFORE DELETE ON \(table)
            BEGIN SELECT RAISE(ABORT, '\(table) are only ever inserted'); END;
        """
    }

    /// Throws for a file that this program must not change.
    ///
    /// - Returns: The file's version; 0 for an empty one.
    @discardableResult
    static func checkedVersion(of connection: borrowing Connection) throws -> Int64 {
        let version = try pragma("user_version", of: connection)
        let application = try pragma("application_id", of: connection)
        let tables: Int64? = try connection.first("SELECT count(*) FROM sqlite_schema")
        let isEmpty = version == 0 && application == 0 && tables == 0
        guard isEmpty || application == applicationID else {
            throw LedgerError(
                .foreign,
                "The database belongs to another program.",
                fix: "Name a new file, or the file of a gotchu-server."
            )
        }
        guard version <= Schema.version else { throw LedgerError.newer }
        return version
    }

    static func pragma(_ name: String, of connection: borrowing Connection) throws -> Int64 {
        try connection.first("PRAGMA \(name)") ?? 0
    }
}

extension LedgerError {
    static let newer = LedgerError(
        .foreign,
        "The database was written by a newer gotchu-server.",
        fix: "Install that version, or restore a backup made before the update."
    )

    /// Throws for a database whose tables have another version, or that has no tables.
    ///
    /// - Parameter version: The database's version; 0 if it is empty.
    static func requireCurrent(_ version: Int64) throws(LedgerError) {
        guard version > 0 else {
            throw LedgerError(
                .cannotOpen,
                "There are no books in this database.",
                fix: "Name the one that the server was started with."
            )
        }
        guard version == Schema.version else {
            throw LedgerError(
                .foreign,
                "The books are of version \(version), this program is for version "
                    + "\(Schema.version).",
                fix: "Use the program of the server that runs on them, or update that: it brings "
                    + "the books up to date, as does gotchu-server migrate."
            )
        }
    }
}
