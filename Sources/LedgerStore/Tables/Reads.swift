internal import GotchuCore
internal import Ledger

/// The ledger's reads: each declared once, run by either engine, found by a key.
enum Reads {
    static func record(_ id: RecordID) -> Select<Record> {
        Select("SELECT \(Columns.records.list) FROM records WHERE id = $1", [.text(id.rawValue)])
    }

    static func record(named name: String) -> Select<NamedRecord> {
        Select(
            """
            SELECT \(Columns.records.list),
                (SELECT display_name FROM users WHERE users.id = records.owner),
                (SELECT until FROM names WHERE name = $1)
            FROM records WHERE id = (SELECT target FROM names WHERE name = $1)
            """,
            [.text(name)]
        )
    }

    static func answer(_ key: Answer.Key) -> Select<Answer> {
        Select(
            """
            SELECT \(Columns.answers.list) FROM answers
            WHERE user_id = $1 AND command = $2 AND key = $3
            """,
            [.text(key.user.rawValue), .text(key.command), .text(key.key.rawValue)]
        )
    }

    static func due(at time: Timestamp, skipping: Int, limit: Int) -> Select<DueRecord> {
        Select(
            "SELECT record, kind FROM due WHERE due_at <= $1 ORDER BY due_at LIMIT $2 OFFSET $3",
            [.integer(time.milliseconds), .integer(Int64(limit)), .integer(Int64(skipping))]
        )
    }

    /// A line of a history: an account, and one of its entries with its record.
    struct HistoryLine: RowValue {
        let account: Account
        let entry: Entry?
        let record: Record?

        init(row: borrowing some LedgerRow & ~Copyable) throws {
            account = try Account(row: row)
            let isEntry = try row.optionalText(6) != nil
            entry = isEntry ? try Entry(row: row, from: 6) : nil
            let isRecord = try row.optionalText(16) != nil
            record = isRecord ? try Record(row: row, from: 16) : nil
        }
    }

    /// By the key of `entries`: no sorting, no counting, nothing skipped over. One statement, so
    /// that the account and its entries are of one moment.
    static let history = """
        SELECT \(Columns.accounts.qualified), \(Columns.entries.qualified),
            \(Columns.records.qualified)
        FROM accounts LEFT JOIN (
            SELECT \(Columns.entries.list) FROM entries
            WHERE owner = $1 AND currency = $2 AND number <= coalesce(CAST($3 AS bigint), (
                SELECT entry_count FROM accounts WHERE owner = $1 AND currency = $2
            ) - CAST($4 AS bigint))
            ORDER BY number DESC LIMIT $5
        ) AS entries ON true
        LEFT JOIN records ON records.id = entries.record
        WHERE accounts.owner = $1 AND accounts.currency = $2
        ORDER BY entries.number DESC
        """

    static func history(of key: Account.Key, _ range: HistoryRange) -> Select<HistoryLine> {
        let start: [SQLValue] =
            switch range.start {
            case .newest(let skipped): [.null, .integer(skipped)]
            case .after(let number): [.integer(number - 1), .integer(0)]
            }
        return Select(
            history,
            [.text(key.owner.rawValue), .text(key.currency.rawValue)] + start
                + [.integer(Int64(range.limit))]
        )
    }
}

extension AccountHistory {
    init?(_ lines: [Reads.HistoryLine]) {
        guard let account = lines.first?.account else { return nil }
        let entries = lines.compactMap { line in
            line.entry.map { (entry: $0, record: line.record) }
        }
        self.init(account: account, entries: entries)
    }
}
