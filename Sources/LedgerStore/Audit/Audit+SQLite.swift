package import Ledger
internal import SQLite

extension Audit {
    /// Audits a file.
    ///
    /// - Parameter pins: Seals that must exist.
    /// - Throws: If the file cannot be read as a ledger at all.
    package static func run(
        path: String,
        kinds: [TransferKind],
        records: [RecordRule],
        pins: [SealPin] = []
    ) throws(LedgerError) -> Audit {
        try translatingErrors(.cannotOpen) {
            let connection = try Connection(path: path, mode: .readOnly)
            try LedgerError.requireCurrent(SQLiteSchema.checkedVersion(of: connection))
            return try connection.snapshot {
                var audit = Audit(findings: [try soundness(of: connection)])
                // With damaged pages no other result is meaningful.
                guard audit.isClean else { return audit }
                audit.findings.append(try guards.finding(in: connection))
                audit.findings.append(try uniqueness.finding(in: connection))
                let run = AuditRun(rules: LedgerRules(kinds), records: records, pins: pins)
                try run.add(to: &audit, from: connection)
                return audit
            }
        }
    }

    private static func soundness(of connection: borrowing Connection) throws -> Finding {
        let complaints: [String]
        do {
            complaints = try connection.rows("PRAGMA integrity_check(1)")
        } catch let error as SQLiteError where error.code.primary == .corrupt {
            complaints = [error.message]
        }
        return Finding(
            rule: "the file is sound (pages)",
            count: try SQLiteSchema.pragma("page_count", of: connection),
            violation: complaints == ["ok"]
                ? nil : complaints.first ?? "SQLite's check of the file has no result"
        )
    }

    private static let uniqueness = AuditCheck(
        rule: AuditCheck.uniquenessRule,
        count: "SELECT count(*) FROM sqlite_schema WHERE type = 'table'",
        firstViolation: """
            WITH uniques (kept, key) AS (VALUES \(AuditCheck.keys))
            SELECT 'table ' || kept || ' has no unique index on ' || key FROM uniques
            WHERE NOT EXISTS (
                SELECT 1 FROM pragma_index_list(kept) AS list
                WHERE list."unique" AND NOT list.partial AND key = (
                    SELECT group_concat(name, ', ') FROM (
                        SELECT name FROM pragma_index_info(list.name) ORDER BY seqno
                    )
                )
            ) LIMIT 1
            """,
        remedy: .recreate
    )

    /// The check of the guards of insert-only tables. A trigger with the right name is not enough:
    /// its SQL must be that with which the tables were created.
    private static let guards = AuditCheck(
        rule: AuditCheck.guardsRule,
        count: "SELECT count(*) FROM sqlite_schema WHERE type = 'trigger'",
        firstViolation: """
            WITH tables (kept) AS (VALUES \(AuditCheck.guardedRows))
            SELECT 'trigger ' || kept || guard || ' is missing or changed'
            FROM tables,
                (SELECT '_stay' AS guard, 'UPDATE' AS event
                UNION ALL SELECT '_are_kept', 'DELETE')
            WHERE NOT EXISTS (
                SELECT 1 FROM sqlite_schema WHERE type = 'trigger'
                AND replace(replace(sql, char(10), ''), ' ', '') =
                    printf('CREATETRIGGER%s%sBEFORE%sON%s', kept, guard, event, kept)
                    || printf('BEGINSELECTRAISE(ABORT,''%sareonlyeverinserted'');END', kept)
            ) LIMIT 1
            """,
        remedy: .recreate
    )
}

extension SQLite.Connection: AuditRun.Source {
    borrowing func each<Row: RowValue>(
        _ sql: String,
        as type: Row.Type,
        _ body: (Row) throws -> Void
    ) throws {
        _ = try query(sql) { try body(Row(row: $0)) }
    }
}

extension AuditCheck {
    static let uniquenessRule = "every table has its unique index (keys)"
    static let guardsRule =
        "transfers, entries, children, answers and seals cannot be changed (guards)"

    /// The tables and their primary keys. These keys keep anything from being done twice.
    static let keys = [
        ("users", "id"), ("names", "name"), ("accounts", "owner, currency"), ("records", "id"),
        ("children", "parent, number"), ("due", "owner, record"), ("transfers", "record, step"),
        ("entries", "owner, currency, number"), ("answers", "user_id, command, key"),
        ("seals", "chain, number"),
    ].map { "('\($0)', '\($1)')" }.joined(separator: ", ")

    static let guardedRows = Schema.guarded.map { "('\($0)')" }.joined(separator: ", ")
}
