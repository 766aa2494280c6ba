internal import Ledger
internal import Postgres

/// The tables in a schema of a database.
enum PostgreSQLSchema {
    static let version = "SELECT coalesce(max(version), 0) FROM gotchu_migrations"

    private static let attemptLimit = 10
    private static let migrationTimeLimit: Duration = .seconds(3_600)

    /// Creates the tables unless they exist.
    ///
    /// Several servers may start at once: a lock lets one of them create the tables; the others
    /// then find them.
    ///
    /// - Throws: `LedgerError` with `foreign` for a newer database, or one that is not a ledger.
    static func migrate(_ connection: borrowing Connection) throws {
        for attempt in 1... {
            do {
                guard try checkedVersion(of: connection) < Schema.version else { return }
                try requireAllText(connection)
                try step(connection)
                return
            } catch let error as PostgresError {
                // Two servers created the version table at the same time.
                let isRace = error.kind == .conflict || error.state == .duplicateTable
                guard isRace, attempt < attemptLimit else { throw error }
                if connection.isInTransaction { try connection.execute("ROLLBACK") }
            }
        }
    }

    /// Throws for an encoding that cannot store some names and memos. Commands with such texts
    /// would fail with `tryAgain` each time. `SQL_ASCII` stores any text unchanged.
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
                    within: migrationTimeLimit
                )
            }
            try connection.execute("COMMIT")
        } catch {
            if connection.isUsable { try connection.execute("ROLLBACK") }
            throw error
        }
    }

    /// Throws for a database that this program must not change.
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

    /// Throws if the schema is empty and another one on the search path contains a ledger. This
    /// happens if a schema is created for this role, or the role is changed. If the empty schema
    /// were used as a new ledger, all the money would seem to be gone.
    private static func requireNoneBehind(_ connection: borrowing Connection) throws {
        let others = try connection.query(
            """
            SELECT schemaname::text FROM pg_catalog.pg_tables
            WHERE tablename = 'gotchu_migrations' AND schemaname = ANY (current_schemas(false))
                AND schemaname <> current_schema()
            """,
            read: { try $0.text(0) }
        )
        // Tables that another server has just created in this schema do not count.
        guard let other = others.first else { return }
        throw LedgerError(
            .cannotOpen,
            "The books are in the schema \(other), which is not the first one that is looked at.",
            fix: "Set it for this role: ALTER ROLE … SET search_path = \"\(other)\"."
        )
    }

    /// Creates the rules by which a table rejects updates and deletions of rows.
    ///
    /// A trigger would need a function in another language. A rule with a failing query is plain
    /// SQL; the text that cannot be cast to a number appears in the error message.
    private static func guarding(_ table: String) -> String {
        let refusal = "SELECT CAST((SELECT '\(table) are only ever inserted'::text) AS bigint)"
        return """
            CREATE RULE \(table)_stay AS ON UPDATE TO \(table) DO INSTEAD \(refusal);
            CREATE RULE \(table)_are_kept AS ON DELETE TO \(table) DO INSTEAD \(refusal);
            REVOKE TRUNCATE ON \(table) FROM CURRENT_USER;
            """
    }
}
