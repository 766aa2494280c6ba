internal import Postgres

extension Audit {
    /// Where the books are. As a name alone it might have to be quoted.
    private static let schema = "to_regnamespace(quote_ident(current_schema()))"

    /// Everything may be read, and that takes as long as it takes.
    private static let limit: Duration = .seconds(24 * 3_600)

    /// Looks at everything in a database that may be in use.
    ///
    /// - Parameter pin: A seal that the chain must hold.
    /// - Throws: If it cannot be read as a ledger at all.
    package static func run(url: String, pin: SealPin? = nil) throws(LedgerError) -> Audit {
        try wrapping(.cannotOpen) {
            let connection = try Connection(try ConnectionSettings(url: url))
            try PostgreSQLSession.prepareForAudit(connection)
            try PostgreSQLSchema.requireNewest(connection)
            try connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            var audit = Audit(findings: try findings(in: connection))
            if let pin {
                let hash = try connection.query(SealQueries.hash, [.integer(pin.number)]) {
                    try $0.blob(0)
                }
                audit.findings.append(pin.finding(for: hash.first))
            }
            audit.head = try connection.query(SealQueries.head) { SealPin(try $0.seal()) }.first
            try connection.execute("ROLLBACK")
            return audit
        }
    }

    private static func findings(in connection: borrowing Connection) throws -> [Finding] {
        // What is asked of whole tables takes a while at best. For the first row that is broken,
        // which there never is, a plan may compare each row of one table with each of another:
        // days.
        try connection.execute("SET LOCAL enable_nestloop = off")
        var findings = try [soundness, references].map { try finding(for: $0, in: connection) }
        for reference in try self.references(in: connection) where findings[1].broken == nil {
            let broken = try connection.query(reference.firstBroken, within: limit) {
                try $0.text(0)
            }.first
            findings[1] = Finding(
                rule: findings[1].rule,
                count: findings[1].count,
                broken: broken
            )
        }
        findings += try ([guards, uniqueness] + AuditCheck.all).map {
            try finding(for: $0, in: connection)
        }
        try connection.execute("SET LOCAL enable_nestloop = on")
        findings.append(try chain(in: connection))
        findings.append(try finding(for: openSessions, in: connection))
        return findings
    }

    /// Follows the chain, stretch by stretch: a whole answer stands in memory.
    private static func chain(in connection: borrowing Connection) throws -> Finding {
        var check = ChainCheck()
        while check.broken == nil {
            let before = check.number
            var links: [(SealedTransfer, number: Int64, hash: [UInt8])] = []
            try connection.run(
                [
                    Query(
                        SealQueries.chain,
                        [.integer(before), .integer(ChainCheck.stretch)]
                    ) { row in
                        let transfer = try row.sealedTransfer()
                        links.append((transfer, try row.integer(1), try row.blob(11)))
                    }
                ],
                within: limit
            )
            for link in links { check.take(link.0, number: link.number, hash: link.hash) }
            guard check.number > before else { break }
        }
        return check.finding()
    }

    private static func finding(
        for check: AuditCheck,
        in connection: borrowing Connection
    ) throws -> Finding {
        let count = try connection.query(check.count, within: limit) { try $0.integer(0) }.first
        // A number that does not fit is itself a finding, not a failure to look.
        try connection.execute("SAVEPOINT rule")
        let broken: String?
        do {
            broken = try connection.query(check.firstBroken, within: limit) { try $0.text(0) }.first
        } catch let error as PostgresError where error.kind == .rejected {
            broken = error.message
            try connection.execute("ROLLBACK TO SAVEPOINT rule")
        }
        return Finding(rule: check.rule, count: count ?? 0, broken: broken)
    }

    private static let soundness = AuditCheck(
        rule: "the database is sound (indexes)",
        count: """
            SELECT count(*) FROM pg_catalog.pg_index
            JOIN pg_catalog.pg_class ON pg_class.oid = indrelid
            WHERE relnamespace = \(schema)
            """,
        firstBroken: """
            SELECT 'index ' || indexrelid::regclass::text || ' is not valid'
            FROM pg_catalog.pg_index JOIN pg_catalog.pg_class ON pg_class.oid = indrelid
            WHERE relnamespace = \(schema)
                AND NOT (indisvalid AND indisready AND indislive)
            LIMIT 1
            """
    )

    /// An index that we keep ourselves, and a second server may leave wrong.
    private static let openSessions = AuditCheck(
        rule: "every session that is not over, and no other, is among the open ones "
            + "(open_sessions)",
        count: "SELECT count(*) FROM open_sessions",
        firstBroken: """
            SELECT 'session ' || coalesce(living.id, session_id) || ' is '
                || CASE WHEN session_id IS NULL THEN 'missing in open_sessions'
                    WHEN living.id IS NULL THEN 'not open, and in open_sessions'
                    ELSE 'otherwise in open_sessions' END
            FROM open_sessions FULL JOIN (
                SELECT id, payee_id, coalesce(lock_expires_at, expires_at) AS due_at FROM sessions
                WHERE status IN ('CREATED', 'ADVERTISING', 'LOCKED')
            ) AS living ON living.id = session_id
            WHERE session_id IS NULL OR living.id IS NULL
                OR open_sessions.payee_id <> living.payee_id
                OR open_sessions.due_at <> living.due_at
            LIMIT 1
            """
    )

    /// The database's own word that it watches over those it knows. The rows are looked at one by
    /// one.
    private static let references = AuditCheck(
        rule: "every reference leads somewhere (references)",
        count: """
            SELECT \(Reference.unwatched.count) + count(*) FROM pg_catalog.pg_constraint
            WHERE contype = 'f' AND connamespace = \(schema)
            """,
        firstBroken: """
            SELECT 'reference ' || conname::text || ' is not valid'
            FROM pg_catalog.pg_constraint
            WHERE contype = 'f' AND connamespace = \(schema)
                AND NOT convalidated LIMIT 1
            """
    )

    /// Those that the database knows, and those that nobody else looks at.
    private static func references(in connection: borrowing Connection) throws -> [Reference] {
        try Reference.unwatched
            + connection.query(
                """
                SELECT format('%s', conrelid::regclass), format('%I', key.attname),
                    format('%I', child.attname), format('%s', confrelid::regclass),
                    format('%I', parent.attname)
                FROM pg_catalog.pg_constraint
                JOIN pg_catalog.pg_index ON indrelid = conrelid AND indisprimary
                JOIN pg_catalog.pg_attribute key
                    ON key.attrelid = conrelid AND key.attnum = indkey[0]
                JOIN pg_catalog.pg_attribute child
                    ON child.attrelid = conrelid AND child.attnum = conkey[1]
                JOIN pg_catalog.pg_attribute parent
                    ON parent.attrelid = confrelid AND parent.attnum = confkey[1]
                WHERE contype = 'f' AND connamespace = \(schema)
                ORDER BY conrelid::regclass::text, conname
                """,
                read: { row in
                    Reference(
                        table: try row.text(0),
                        key: try row.text(1),
                        column: try row.text(2),
                        parent: try row.text(3),
                        parentColumn: try row.text(4)
                    )
                }
            )
    }

    /// Two servers that decide at once meet at these: without them a payment is made twice. A
    /// restore that did not end well leaves them out.
    private static let uniqueness = AuditCheck(
        rule: AuditCheck.uniquenessRule,
        count: """
            SELECT count(*) FROM pg_catalog.pg_index
            JOIN pg_catalog.pg_class ON pg_class.oid = indrelid
            WHERE relnamespace = \(schema) AND indisunique
            """,
        firstBroken: """
            SELECT 'table ' || kept || ' may hold ' || key || ' twice'
            FROM (
                VALUES \(AuditCheck.uniqueColumns), ('open_sessions', 'payee_id, session_id')
            ) AS uniques (kept, key) WHERE NOT EXISTS (
                SELECT FROM pg_catalog.pg_index
                JOIN pg_catalog.pg_class ON pg_class.oid = indrelid
                WHERE relnamespace = \(schema) AND relname = kept
                    AND indisunique AND indisvalid AND (indpred IS NULL OR kept = 'wallets')
                    AND key = (
                        SELECT string_agg(attname, ', ' ORDER BY place)
                        FROM unnest(indkey::int2[]) WITH ORDINALITY AS columns (number, place)
                        JOIN pg_catalog.pg_attribute
                            ON attrelid = indrelid AND attnum = columns.number
                    )
            ) LIMIT 1
            """
    )

    /// A rule of the name does not do: it must be on its table, be in force, and refuse.
    private static let guards = AuditCheck(
        rule: "transfers, entries and seals cannot be changed (guards)",
        count: "SELECT count(*) FROM pg_catalog.pg_rules WHERE schemaname = current_schema()",
        firstBroken: """
            SELECT 'rule ' || kept || guard || ' is missing'
            FROM unnest(ARRAY['transfers', 'entries', 'seals']) AS tables (kept),
                (VALUES ('_stay', '2'::"char"), ('_are_kept', '4'::"char")) AS guards (guard, event)
            WHERE NOT EXISTS (
                SELECT FROM pg_catalog.pg_rewrite
                JOIN pg_catalog.pg_class ON pg_class.oid = ev_class
                WHERE relnamespace = \(schema) AND relname = kept AND rulename = kept || guard
                    AND ev_type = event AND ev_enabled IN ('O', 'A')
                    AND is_instead AND ev_qual::text = '<>'
                    AND pg_get_ruledef(pg_rewrite.oid) LIKE '%are only ever inserted%'
            ) LIMIT 1
            """
    )
}
