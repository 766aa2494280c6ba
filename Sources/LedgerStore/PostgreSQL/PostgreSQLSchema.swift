internal import Ledger
internal import Postgres

/// The tables in a schema of a database.
enum PostgreSQLSchema {
    static let version = "SELECT coalesce(max(version), 0) FROM gotchu_migrations"

    private static let startingTogether = 10
    private static let longestMigration: Duration = .seconds(3_600)

    /// Makes the tables; nothing is written if they are there.
    ///
    /// Several servers may start at once: the lock lets one of them do it, and the others find it
    /// done.
    ///
    /// - Throws: `LedgerError` with `foreign` for a newer database, or one that is not ours.
    static func migrate(_ connection: borrowing Connection) throws {
        for attempt in 1... {
            do {
                guard try checkedVersion(of: connection) < Schema.version else { return }
                try requireAllText(connection)
                try step(connection)
                return
            } catch let error as PostgresError {
                // Two servers made the table of versions at once.
                let isRace = error.kind == .conflict || error.state == .duplicateTable
                guard isRace, attempt < startingTogether else { throw error }
                if connection.isInTransaction { try connection.execute("ROLLBACK") }
            }
        }
    }

    /// Refuses a database to which some names and memos cannot be written: whoever uses one would
    /// be told for ever to try again. `SQL_ASCII` keeps any text as it is.
    private static func requireAllText(_ connection: borrowing Connection) throws {
        let encodings = try connection.query(
            "SELECT coalesce(current_setting('server_encoding', true), 'UTF8')",
            read: { try $0.text(0) }
        )
        guard encodings.allSatisfy({ ["UTF8", "SQL_ASCII"].contains($0) }) else {
            throw LedgerError(
                .cannotOpen,
                "The database cannot hold every text: its encoding is not UTF8.",
                fix: "Make another one: createdb --encoding UTF8 --template template0."
            )
        }
    }

    private static func step(_ connection: borrowing Connection) throws {
        try connection.execute(
            """
            CREATE TABLE IF NOT EXISTS gotchu_migrations (
                version bigint PRIMARY KEY,
                migrated_at timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP
            )
            """
        )
        try connection.execute("BEGIN; LOCK TABLE gotchu_migrations IN ACCESS EXCLUSIVE MODE")
        do {
            if try checkedVersion(of: connection) == 0 {
                let guards = Schema.guarded.map(guarding).joined(separator: "\n")
                try connection.execute(
                    """
                    SET LOCAL statement_timeout = 0;
                    \(Schema.tables(for: .postgresql))
                    \(guards)
                    INSERT INTO gotchu_migrations (version) VALUES (\(Schema.version));
                    """,
                    within: longestMigration
                )
            }
            try connection.execute("COMMIT")
        } catch {
            if connection.isUsable { try connection.execute("ROLLBACK") }
            throw error
        }
    }

    /// Refuses a database that this program must not touch.
    ///
    /// - Returns: The database's version; 0 for an empty one.
    @discardableResult
    static func checkedVersion(of connection: borrowing Connection) throws -> Int64 {
        let tables = try connection.query(
            "SELECT tablename FROM pg_catalog.pg_tables WHERE schemaname = current_schema()",
            read: { try $0.text(0) }
        )
        guard tables.contains("gotchu_migrations") else {
            guard tables.isEmpty else {
                throw LedgerError(
                    .foreign,
                    "The database belongs to another program.",
                    fix: "Name an empty one, or that of a gotchu-server."
                )
            }
            try requireNoneBehind(connection)
            return 0
        }
        let version =
            try connection.query(Self.version, read: { try $0.integer(0) }).first ?? 0
        guard version <= Schema.version else { throw LedgerError.newer }
        return version
    }

    /// Refuses to take an empty schema for a new ledger while the search path leads to books too: a
    /// schema that was made for this role later, or another role, would hide everybody's money.
    private static func requireNoneBehind(_ connection: borrowing Connection) throws {
        let others = try connection.query(
            """
            SELECT schemaname::text FROM pg_catalog.pg_tables
            WHERE tablename = 'gotchu_migrations' AND schemaname = ANY (current_schemas(false))
                AND schemaname <> current_schema()
            """,
            read: { try $0.text(0) }
        )
        // Those that another server has just made in this one are no others.
        guard let other = others.first else { return }
        throw LedgerError(
            .cannotOpen,
            "The books are in the schema \(other), which is not the first one that is looked at.",
            fix: "Set it for this role: ALTER ROLE … SET search_path = \"\(other)\"."
        )
    }

    /// Refuses to change or remove rows of a table that only ever grows.
    ///
    /// A trigger would need a function in another language. A rule whose query fails is plain SQL;
    /// the text that is no number becomes the error's message.
    private static func guarding(_ table: String) -> String {
        let refusal = "SELECT CAST((SELECT '\(table) are only ever inserted'::text) AS bigint)"
        return """
            CREATE RULE \(table)_stay AS ON UPDATE TO \(table) DO INSTEAD \(refusal);
            CREATE RULE \(table)_are_kept AS ON DELETE TO \(table) DO INSTEAD \(refusal);
            REVOKE TRUNCATE ON \(table) FROM CURRENT_USER;
            """
    }
}
