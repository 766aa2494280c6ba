internal import Ledger
internal import Logging
internal import Postgres

/// The distribution of the tables' rows with Citus: workers store the rows, and a coordinator knows
/// which worker stores which.
enum Distribution {
    private static let moveTimeLimit: Duration = .seconds(24 * 3_600)

    /// The calls that distribute the tables.
    ///
    /// A row's server is chosen by the column that finds the row: all rows of one owner, or of one
    /// record, are on one server. The coordinator keeps the outbox: it is searched, and its rows
    /// are soon removed. Citus must know these tables; otherwise their rows could be lost although
    /// a worker has committed with them. The table version, the secrets and the browser sessions
    /// are written alone, and stay plain tables.
    private static let calls: [(table: String, call: String)] =
        [("users", "create_distributed_table('users', 'id', colocate_with => 'none')")]
        + [
            ("accounts", "owner"), ("entries", "owner"), ("answers", "user_id"), ("due", "owner"),
            ("records", "id"), ("children", "parent"), ("transfers", "record"), ("names", "name"),
            ("seals", "chain"), ("devices", "id"),
        ].map { table, column in
            let call = "create_distributed_table('\(table)', '\(column)', colocate_with => 'users')"
            return (table, call)
        } + [
            // Its rows are locked together.
            (
                "probe",
                "create_distributed_table('probe', 'id', colocate_with => 'none', shard_count => 1)"
            ),
            ("endpoints", "citus_add_local_table_to_metadata('endpoints')"),
            ("deliveries", "citus_add_local_table_to_metadata('deliveries')"),
        ]

    /// Detects distributed tables, and marks the connection accordingly.
    static func detect(on connection: borrowing Connection) throws {
        connection.isDistributed = try tables(on: connection)?.contains("accounts") ?? false
    }

    /// Returns the distributed tables of this schema; `nil` without Citus.
    private static func tables(on connection: borrowing Connection) throws -> [String]? {
        let catalog = try connection.query(
            "SELECT count(to_regclass('pg_catalog.pg_dist_partition'))",
            read: { try $0.integer(0) }
        )
        guard catalog == [1] else { return nil }
        return try connection.query(
            """
            SELECT relname::text FROM pg_catalog.pg_dist_partition
            JOIN pg_catalog.pg_class ON pg_class.oid = logicalrelid
            WHERE relnamespace = to_regnamespace(quote_ident(current_schema()))
            """,
            read: { try $0.text(0) }
        )
    }

    /// Returns true if all workers that answer are durable.
    static func isDurable(on connection: borrowing Connection) throws -> Bool {
        guard connection.isDistributed else { return true }
        return try connection.query(
            """
            SELECT count(*) FROM run_command_on_workers($$
                SELECT current_setting('fsync') = 'on'
                    AND current_setting('full_page_writes') = 'on'
                    AND current_setting('synchronous_commit') NOT IN ('off', 'local')
            $$) WHERE success AND result <> 't'
            """,
            read: { try $0.integer(0) }
        ) == [0]
    }

    /// Distributes the tables that are not distributed yet, with their rows, in one transaction.
    /// Running servers wait until it ends, and then continue.
    ///
    /// - Returns: The number of servers that store rows.
    static func distribute(_ connection: borrowing Connection, logger: Logger) throws -> Int64 {
        guard let distributed = try tables(on: connection) else {
            throw LedgerError(
                .cannotOpen,
                "The database has no Citus, which would distribute its tables.",
                fix: "Install it on all its servers, and run CREATE EXTENSION citus on each: see "
                    + "\"On a cluster\" in /usr/share/doc/gotchu-server/operations.md."
            )
        }
        let servers = try serverCount(connection)
        try connection.execute("SET statement_timeout = 0; BEGIN")
        do {
            try stopWriters(connection)
            for (table, call) in calls where !distributed.contains(table) {
                logger.notice("A table is being distributed.", metadata: ["table": "\(table)"])
                try connection.execute("SELECT \(call)", within: moveTimeLimit)
                guard call.hasPrefix("create") else { continue }
                // Removes the rows that the coordinator stored so far. Its owner has no right to
                // truncate a guarded table, and gets it for this statement.
                let removal = "SELECT truncate_local_data_after_distributing_table('\(table)')"
                let right = "TRUNCATE ON \(table)"
                let isGuarded = Schema.guarded.contains(table)
                if isGuarded { try connection.execute("GRANT \(right) TO CURRENT_USER") }
                try connection.execute(removal)
                if isGuarded { try connection.execute("REVOKE \(right) FROM CURRENT_USER") }
            }
            try connection.execute("COMMIT", within: moveTimeLimit)
        } catch {
            if connection.isUsable { try connection.execute("ROLLBACK") }
            throw error
        }
        return servers
    }

    private static func serverCount(_ connection: borrowing Connection) throws -> Int64 {
        let counts = try connection.query(
            """
            SELECT (SELECT groupid FROM pg_catalog.pg_dist_local_group)::bigint,
                count(*) FILTER (WHERE groupid = 0),
                count(*) FILTER (WHERE isactive AND shouldhaveshards AND noderole = 'primary')
            FROM pg_catalog.pg_dist_node
            """,
            read: { (group: try $0.integer(0), known: try $0.integer(1), rows: try $0.integer(2)) }
        ).first
        guard let counts, counts.group == 0 else {
            throw LedgerError(
                .cannotOpen,
                "This server of the database is a worker.",
                fix: "Name the coordinator."
            )
        }
        guard counts.known > 0 else {
            throw LedgerError(
                .cannotOpen,
                "The workers are not told where the coordinator is.",
                fix: "Run on it: SELECT citus_set_coordinator_host('NAME', PORT)."
            )
        }
        guard counts.rows > 0 else {
            throw LedgerError(
                .cannotOpen,
                "The database has no worker to distribute its tables to.",
                fix: "Run on the coordinator, for each: SELECT citus_add_node('NAME', PORT)."
            )
        }
        return counts.rows
    }

    /// The check of the primary keys on workers. These keys keep two servers from making the same
    /// decision twice.
    static let keys = AuditCheck(
        rule: "every shard has its primary key (shards)",
        count: "SELECT count(*) FROM pg_catalog.pg_dist_shard",
        firstViolation: """
            SELECT 'shard ' || shardid || ' of ' || kept || ' has no valid primary key'
            FROM (VALUES \(AuditCheck.keys)) AS uniques (kept, key)
            CROSS JOIN LATERAL run_command_on_shards(to_regclass(kept), $$
                SELECT count(*) FROM pg_catalog.pg_index
                WHERE indrelid = '%s'::regclass AND indisprimary AND indisvalid
            $$) WHERE NOT success OR result <> '1' LIMIT 1
            """
    )

    /// Makes a transaction that has just begun see the same moment on all servers, which have no
    /// common snapshot. It locks the version table, which all transactions of our servers read
    /// first. While no such transaction is in progress, it queries the workers: each worker then
    /// takes its snapshot and keeps it.
    ///
    /// - Throws: `LedgerError` with `tryAgain` if a worker does not know the outcome of a
    ///   transaction yet, with `cannotOpen` if the role may not lock out writers.
    static func takeSnapshot(
        _ connection: borrowing Connection,
        _ settings: ConnectionSettings
    ) throws {
        guard connection.isDistributed else { return }
        let gate = try Connection(settings)
        try gate.execute("SET lock_timeout = '2s'; BEGIN")
        try stopWriters(gate)
        let open = try gate.query(
            """
            SELECT coalesce(sum(result::bigint), 0)::bigint FROM run_command_on_workers($$
                SELECT count(*) FROM pg_catalog.pg_prepared_xacts
                WHERE database = current_database() AND gid LIKE 'citus%'
            $$) WHERE success
            """,
            read: { try $0.integer(0) }
        )
        guard open == [0] else {
            throw LedgerError(
                .tryAgain,
                "A worker has not been told yet how \(open.first ?? 0) transactions ended.",
                fix: "Citus tells it within a minute, or at once: "
                    + "SELECT recover_prepared_transactions()."
            )
        }
        try connection.execute("SELECT count(*) FROM seals")
        try gate.execute("ROLLBACK")
    }

    private static func stopWriters(_ connection: borrowing Connection) throws {
        do {
            try connection.execute("LOCK TABLE gotchu_migrations IN ACCESS EXCLUSIVE MODE")
        } catch let error where error.state == .insufficientPrivilege {
            throw LedgerError(
                .cannotOpen,
                "This role may not keep the servers waiting: it does not own the tables.",
                underlying: error,
                fix: "Log in as their owner."
            )
        }
    }
}
