internal import GotchuCore
internal import Ledger

/// The ledger's queries: each is declared once, runs on either engine, and uses a key.
enum Reads {
    static func record(_ id: RecordID) -> Select<Record> {
        Select("SELECT \(Columns.records.list) FROM records WHERE id = $1", [.text(id.rawValue)])
    }

    static func record(named name: String) -> RecordNamed { RecordNamed(name: name) }

    /// Finds the record of a unique name. Takes three steps on a distributed engine, where no
    /// server has the name, the record and its owner together.
    struct RecordNamed: StoreQuery {
        fileprivate let name: String

        private static let sql = """
            SELECT \(Columns.records.list),
                (SELECT display_name FROM users WHERE users.id = records.owner),
                (SELECT until FROM names WHERE name = $1)
            FROM records WHERE id = (SELECT target FROM names WHERE name = $1)
            """

        func run<Connection: SQLConnection & ~Copyable>(
            on connection: borrowing Connection
        ) throws -> [NamedRecord] {
            guard connection.dialect == .distributed else {
                return try connection.rows(Self.sql, [.text(name)])
            }
            let found: Name? = try connection.first(
                "SELECT \(Columns.names.list) FROM names WHERE name = $1",
                [.text(name)]
            )
            guard let found else { return [] }
            let id = RecordID(trusted: found.target)
            guard let record = try Reads.record(id).run(on: connection).first else { return [] }
            let owner: User? = try connection.first(
                "SELECT \(Columns.users.list) FROM users WHERE id = $1",
                [.text(record.owner.rawValue)]
            )
            guard let owner else { throw LedgerError.corrupt("a record's owner") }
            return [NamedRecord(record: record, ownerName: owner.displayName, until: found.until)]
        }
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

    /// A line of a history: an account, and one of its entries with its record.
    struct HistoryLine: RowValue {
        let account: Account
        let entry: Entry?
        fileprivate(set) var record: Record?

        init(row: borrowing some LedgerRow & ~Copyable) throws {
            account = try Account(row: row)
            let isEntry = try row.optionalText(6) != nil
            entry = isEntry ? try Entry(row: row, from: 6) : nil
            let isRecord = try row.optionalText(16) != nil
            record = isRecord ? try Record(row: row, from: 16) : nil
        }
    }

    static func history(of key: Account.Key, _ range: HistoryRange) -> History {
        History(account: key, range: range)
    }

    /// Reads a page of a history by the key of `entries`: no sorting, counting or skipping. One
    /// statement, so that the account and its entries are from one moment. On a distributed engine
    /// the records are read afterwards, because they are stored elsewhere.
    struct History: StoreQuery {
        fileprivate let account: Account.Key
        fileprivate let range: HistoryRange

        static let sql = sql(
            Columns.records.qualified,
            "LEFT JOIN records ON records.id = entries.record"
        )
        private static let withoutRecords = sql("CAST(NULL AS text)", "")

        private static func sql(_ records: String, _ join: String) -> String {
            """
            SELECT \(Columns.accounts.qualified), \(Columns.entries.qualified),
                \(records)
            FROM accounts LEFT JOIN (
                SELECT \(Columns.entries.list) FROM entries
                WHERE owner = $1 AND currency = $2 AND number <= coalesce(CAST($3 AS bigint), (
                    SELECT entry_count FROM accounts WHERE owner = $1 AND currency = $2
                ) - CAST($4 AS bigint))
                ORDER BY number DESC LIMIT $5
            ) AS entries ON true
            \(join)
            WHERE accounts.owner = $1 AND accounts.currency = $2
            ORDER BY entries.number DESC
            """
        }

        func run<Connection: SQLConnection & ~Copyable>(
            on connection: borrowing Connection
        ) throws -> [HistoryLine] {
            let start: [SQLValue] =
                switch range.start {
                case .newest(let skipped): [.null, .integer(skipped)]
                case .before(let number): [.integer(number - 1), .integer(0)]
                }
            let values: [SQLValue] =
                [.text(account.owner.rawValue), .text(account.currency.rawValue)] + start
                + [.integer(Int64(range.limit))]
            guard connection.dialect == .distributed else {
                return try connection.rows(Self.sql, values)
            }
            var lines: [HistoryLine] = try connection.rows(Self.withoutRecords, values)
            let ids = Set(lines.compactMap(\.entry?.transfer.record.rawValue))
            let isOne = connection.dialect.isIn("$1")
            let records: [Record] = try connection.rows(
                "SELECT \(Columns.records.list) FROM records WHERE id \(isOne)",
                [.list(ids.sorted())]
            )
            let known = Dictionary(uniqueKeysWithValues: records.map { ($0.id, $0) })
            for index in lines.indices {
                lines[index].record = lines[index].entry.flatMap { known[$0.transfer.record] }
            }
            return lines
        }
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
