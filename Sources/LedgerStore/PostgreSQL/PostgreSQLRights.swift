internal import Ledger
internal import Postgres

/// The rights that a server's role needs, by table; docs/operations.md has the GRANTs.
enum PostgreSQLRights {
    static let needed: [(table: String, rights: [String])] = [
        ("gotchu_migrations", ["SELECT"]),
        ("users", ["SELECT", "INSERT", "UPDATE"]),
        ("names", ["SELECT", "INSERT", "UPDATE"]),
        ("accounts", ["SELECT", "INSERT", "UPDATE"]),
        ("records", ["SELECT", "INSERT", "UPDATE"]),
        ("children", ["SELECT", "INSERT"]),
        ("due", ["SELECT", "INSERT", "UPDATE", "DELETE"]),
        ("transfers", ["SELECT", "INSERT"]),
        ("entries", ["SELECT", "INSERT"]),
        ("answers", ["SELECT", "INSERT"]),
        ("seals", ["SELECT", "INSERT"]),
        ("probe", ["SELECT", "INSERT", "UPDATE"]),
        ("devices", ["SELECT", "INSERT", "UPDATE"]),
        ("secrets", ["SELECT", "INSERT"]),
        ("endpoints", ["SELECT", "INSERT", "UPDATE", "DELETE"]),
        ("deliveries", ["SELECT", "INSERT", "UPDATE", "DELETE"]),
        ("web_sessions", ["SELECT", "INSERT", "UPDATE", "DELETE"]),
    ]

    /// Throws if this role lacks a right on a table, for instance because another role created the
    /// table later. Without this check `/readyz` would report success, and payments would always
    /// fail. Other tables of the schema are ignored.
    static func require(_ connection: borrowing Connection) throws {
        let pairs = needed.flatMap { entry in entry.rights.map { (entry.table, $0) } }
        let closed = try connection.query(
            """
            SELECT name, privilege,
                (to_regclass(format('%I.%I', current_schema(), name)) IS NULL)::int::bigint
            FROM unnest($1::text[], $2::text[]) AS needed (name, privilege)
            WHERE has_table_privilege(
                to_regclass(format('%I.%I', current_schema(), name)), privilege
            ) IS NOT TRUE LIMIT 1
            """,
            [.texts(pairs.map(\.0)), .texts(pairs.map(\.1))],
            read: { row in
                (table: try row.text(0), right: try row.text(1), isThere: try row.integer(2) == 0)
            }
        )
        guard let closed = closed.first else { return }
        guard closed.isThere else {
            throw LedgerError(
                .corrupt,
                "The books have no table \(closed.table) any more.",
                fix: "Restore the last backup."
            )
        }
        throw LedgerError(
            .cannotOpen,
            "The database does not let this role do what it must with the table "
                + "\(closed.table): \(closed.right).",
            fix: "Have its owner grant it: see \"On PostgreSQL\" in "
                + "/usr/share/doc/gotchu-server/operations.md."
        )
    }
}
