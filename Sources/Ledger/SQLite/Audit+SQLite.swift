internal import SQLite

extension Audit {
    /// Looks at everything in a file.
    ///
    /// - Parameter pin: A seal that the chain must hold.
    /// - Throws: If the file cannot be read as a ledger at all.
    package static func run(path: String, pin: SealPin? = nil) throws(LedgerError) -> Audit {
        try wrapping(.cannotOpen) {
            let connection = try Connection(path: path, mode: .readOnly)
            try Schema.requireNewest(connection)
            return try connection.snapshot {
                var audit = Audit(findings: try findings(in: connection))
                guard audit.findings[0].broken == nil else { return audit }
                if let pin {
                    let hash = try connection.query(SealQueries.hash, [.integer(pin.number)]) {
                        try $0.blob(0)
                    }
                    audit.findings.append(pin.finding(for: hash.first))
                }
                let head = try connection.sealHead()
                if head.number > 0 { audit.head = SealPin(head) }
                return audit
            }
        }
    }

    private static func findings(in connection: borrowing Connection) throws -> [Finding] {
        var findings = [try soundness(of: connection)]
        // Of a file with broken pages no other answer means anything.
        guard findings[0].broken == nil else { return findings }
        findings.append(try references(in: connection))
        for check in [guards, uniqueness] + AuditCheck.all {
            let count = try connection.query(check.count) { try $0.integer(0) }.first ?? 0
            // A sum that does not fit is itself a finding, not a failure to look.
            let broken: String?
            do {
                broken = try connection.query(check.firstBroken) { try $0.text(0) }.first
            } catch let error as SQLiteError where error.code.primary == .error {
                broken = error.message
            }
            findings.append(Finding(rule: check.rule, count: count, broken: broken))
        }
        findings.append(try connection.chain())
        return findings
    }

    private static func soundness(of connection: borrowing Connection) throws -> Finding {
        let complaints: [String]
        do {
            complaints = try connection.query("PRAGMA integrity_check(1)") { try $0.text(0) }
        } catch let error as SQLiteError where error.code.primary == .corrupt {
            complaints = [error.message]
        }
        return Finding(
            rule: "the file is sound (pages)",
            count: try Schema.pragma("page_count", of: connection),
            broken: complaints == ["ok"] ? nil : complaints.first ?? "no answer"
        )
    }

    /// One question for each reference that the tables have: which row leads nowhere?
    private static func references(in connection: borrowing Connection) throws -> Finding {
        let questions = try connection.query(
            """
            SELECT printf(
                'SELECT ''table %w, row '' || child."%w" || '': %w '' || child."%w"
                    || '' is missing in %w'' FROM "%w" AS child
                LEFT JOIN "%w" AS parent ON parent."%w" = child."%w"
                WHERE child."%w" IS NOT NULL AND parent."%w" IS NULL LIMIT 1',
                child.name, key.name, link."from", link."from", link."table", child.name,
                link."table", link."to", link."from", link."from", link."to"
            ) FROM sqlite_schema AS child
            JOIN pragma_foreign_key_list(child.name) AS link
            JOIN pragma_table_info(child.name) AS key ON key.pk = 1
            WHERE child.type = 'table' ORDER BY child.name, link."from"
            """,
            read: { try $0.text(0) }
        )
        var broken: String?
        for question in questions where broken == nil {
            broken = try connection.query(question) { try $0.text(0) }.first
        }
        return Finding(
            rule: "every reference leads somewhere (references)",
            count: Int64(questions.count),
            broken: broken
        )
    }

    private static let uniqueness = AuditCheck(
        rule: AuditCheck.uniquenessRule,
        count: """
            SELECT count(*) FROM sqlite_schema AS kept JOIN pragma_index_list(kept.name) AS list
            WHERE kept.type = 'table' AND list."unique"
            """,
        firstBroken: """
            WITH uniques (kept, key) AS (VALUES \(AuditCheck.uniqueColumns))
            SELECT 'table ' || kept || ' may hold ' || key || ' twice' FROM uniques
            WHERE NOT EXISTS (
                SELECT 1 FROM pragma_index_list(kept) AS list
                WHERE list."unique" AND (NOT list.partial OR kept = 'wallets') AND key = (
                    SELECT group_concat(name, ', ') FROM (
                        SELECT name FROM pragma_index_info(list.name) ORDER BY seqno
                    )
                )
            ) LIMIT 1
            """
    )

    /// A trigger of the name does not do: it must be the one that the tables were made with.
    private static let guards = AuditCheck(
        rule: "transfers, entries and seals cannot be changed (guards)",
        count: "SELECT count(*) FROM sqlite_schema WHERE type = 'trigger'",
        firstBroken: """
            SELECT 'trigger ' || kept || guard || ' is missing'
            FROM (SELECT value AS kept FROM json_each('["transfers", "entries", "seals"]')),
                (SELECT '_stay' AS guard, 'UPDATE' AS event
                UNION ALL SELECT '_are_kept', 'DELETE')
            WHERE NOT EXISTS (
                SELECT 1 FROM sqlite_schema WHERE type = 'trigger'
                AND replace(replace(sql, char(10), ''), ' ', '') =
                    printf('CREATETRIGGER%s%sBEFORE%sON%s', kept, guard, event, kept)
                    || printf('BEGINSELECTRAISE(ABORT,''%sareonlyeverinserted'');END', kept)
            ) LIMIT 1
            """
    )
}
