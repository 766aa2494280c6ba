package import Ledger
internal import Postgres

extension Audit {
    /// The ledger's schema. A plain name might need quotes.
    private static let schema = "to_regnamespace(quote_ident(current_schema()))"

    /// Audits a database that may be in use.
    ///
    /// - Parameter pins: Seals that must exist.
    /// - Throws: If the database cannot be read as a ledger at all.
    package static func run(
        url: String,
        kinds: [TransferKind],
        records: [RecordRule],
        pins: [SealPin] = []
    ) throws(LedgerError) -> Audit {
        try translatingErrors(.cannotOpen) {
            let settings = try ConnectionSettings(url: url)
            let connection = try Connection(settings)
            try PostgreSQLSession.prepareForAudit(connection)
            try LedgerError.requireCurrent(PostgreSQLSchema.checkedVersion(of: connection))
            try connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            try Distribution.takeSnapshot(connection, settings)
            // Nested loops are turned off: they could compare each row of one table with each row
            // of another, which would take days.
            try connection.execute("SET LOCAL enable_nestloop = off")
            let ofShards = connection.isDistributed ? [Distribution.keys] : []
            let checks = [soundness, guards, uniqueness] + ofShards
            var audit = Audit(findings: try checks.map { try $0.finding(in: connection) })
            let run = AuditRun(rules: LedgerRules(kinds), records: records, pins: pins)
            try run.add(to: &audit, from: connection)
            try connection.execute("ROLLBACK")
            return audit
        }
    }

    private static let soundness = AuditCheck(
        rule: "the database is sound (indexes)",
        count: """
            SELECT count(*) FROM pg_catalog.pg_index
            JOIN pg_catalog.pg_class ON pg_class.oid = indrelid
            WHERE relnamespace = \(schema)
            """,
        firstViolation: """
            SELECT 'index ' || indexrelid::regclass::text || ' is not valid'
            FROM pg_catalog.pg_index JOIN pg_catalog.pg_class ON pg_class.oid = indrelid
            WHERE relnamespace = \(schema)
                AND NOT (indisvalid AND indisready AND indislive)
            LIMIT 1
            """,
        remedy: .recreate
    )

    /// The check of the primary keys that keep two servers from making the same decision twice.
    /// Without them a payment could be made twice. An incomplete restore may omit them.
    private static let uniqueness = AuditCheck(
        rule: AuditCheck.uniquenessRule,
        count: """
            SELECT count(*) FROM pg_catalog.pg_index
            JOIN pg_catalog.pg_class ON pg_class.oid = indrelid
            WHERE relnamespace = \(schema) AND indisunique
            """,
        firstViolation: """
            SELECT 'table ' || kept || ' has no unique index on ' || key
            FROM (VALUES \(AuditCheck.keys)) AS uniques (kept, key) WHERE NOT EXISTS (
                SELECT FROM pg_catalog.pg_index
                JOIN pg_catalog.pg_class ON pg_class.oid = indrelid
                WHERE relnamespace = \(schema) AND relname = kept
                    AND indisunique AND indisvalid AND indpred IS NULL
                    AND key = (
                        SELECT string_agg(attname, ', ' ORDER BY place)
                        FROM unnest(indkey::int2[]) WITH ORDINALITY AS columns (number, place)
                        JOIN pg_catalog.pg_attribute
                            ON attrelid = indrelid AND attnum = columns.number
                    )
            ) LIMIT 1
            """,
        remedy: .recreate
    )

    /// The check of the guards of insert-only tables. A rule with the right name is not enough: it
    /// must be on its table, be enabled, and reject the change.
    private static let guards = AuditCheck(
        rule: AuditCheck.guardsRule,
        count: "SELECT count(*) FROM pg_catalog.pg_rules WHERE schemaname = current_schema()",
        firstViolation: """
            SELECT 'rule ' || kept || guard || ' is missing or changed'
            FROM (VALUES \(AuditCheck.guardedRows)) AS tables (kept),
                (VALUES ('_stay', '2'::"char"), ('_are_kept', '4'::"char")) AS guards (guard, event)
            WHERE NOT EXISTS (
                SELECT FROM pg_catalog.pg_rewrite
                JOIN pg_catalog.pg_class ON pg_class.oid = ev_class
                WHERE relnamespace = \(schema) AND relname = kept AND rulename = kept || guard
                    AND ev_type = event AND ev_enabled IN ('O', 'A')
                    AND is_instead AND ev_qual::text = '<>'
                    AND pg_get_ruledef(pg_rewrite.oid) LIKE '%are only ever inserted%'
            ) LIMIT 1
            """,
        remedy: .recreate
    )
}

extension Postgres.Connection: AuditRun.Source {
    /// The time limit of a statement: an audit reads everything.
    private static let limit: Duration = .seconds(24 * 3_600)
    /// The number of rows fetched at a time.
    private static let fetchSize = 10_000

    borrowing func each<Row: RowValue>(
        _ sql: String,
        as type: Row.Type,
        _ body: (Row) throws -> Void
    ) throws {
        try execute("DECLARE audit NO SCROLL CURSOR FOR \(sql)", within: Self.limit)
        var rows: [Row] = []
        repeat {
            rows = try query("FETCH \(Self.fetchSize) FROM audit", within: Self.limit) {
                try Row(row: $0)
            }
            for row in rows { try body(row) }
        } while rows.count == Self.fetchSize
        try execute("CLOSE audit")
    }
}
