internal import GotchuCore
internal import Ledger

extension Reads {
    static func earnings(of key: Account.Key, _ range: EarningsRange) -> Earnings {
        Earnings(account: key, range: range)
    }

    /// Reads an account's earnings without an index by time. Its entries are numbered without gaps
    /// in chronological order: a binary search finds a time, with 20 look-ups in a million entries.
    /// Entries are only ever added, so several statements still see one history.
    struct Earnings: StoreQuery {
        static let isHeavy = true

        fileprivate let account: Account.Key
        fileprivate let range: EarningsRange

        func run<Connection: SQLConnection & ~Copyable>(
            on connection: borrowing Connection
        ) throws -> AccountEarnings? {
            let key: [SQLValue] = [
                .text(account.owner.rawValue), .text(account.currency.rawValue),
            ]
            let found: Account? = try connection.first(
                """
                SELECT \(Columns.accounts.list) FROM accounts
                WHERE owner = $1 AND currency = $2
                """,
                key
            )
            guard let found else { return nil }
            let earned = try range.marks.map {
                try Self.newest(before: $0, of: found, key, on: connection).earned
            }
            guard let counted = range.counted else {
                let all = 1..<found.entryCount + 1
                return AccountEarnings(account: found, earned: earned, numbers: all, slices: [])
            }
            let bounds = try [counted.lowerBound, counted.upperBound].map {
                try Self.newest(before: $0, of: found, key, on: connection).number
            }
            let length = EarningsRange.slice.wholeMilliseconds
            let slices: [EarningsSlice] = try connection.rows(
                """
                SELECT at / \(length), kind, CASE WHEN amount < 0 THEN 1 ELSE 0 END, count(*),
                    CAST(sum(amount) AS bigint)
                FROM entries
                WHERE owner = $1 AND currency = $2 AND number > $3 AND number <= $4
                GROUP BY 1, 2, 3 ORDER BY 1
                """,
                key + bounds.map { .integer($0) }
            )
            return AccountEarnings(
                account: found,
                earned: earned,
                numbers: bounds[0] + 1..<bounds[1] + 1,
                slices: slices
            )
        }

        private struct Found: RowValue {
            var number: Int64
            let at: Int64
            let earned: Int64

            init(row: borrowing some LedgerRow & ~Copyable) throws {
                (number, at, earned) = (
                    try row.integer(0), try row.integer(1), try row.integer(2)
                )
            }

            /// The position before the first entry.
            init() { (number, at, earned) = (0, 0, 0) }
        }

        /// Finds the newest entry before a moment.
        private static func newest<Connection: SQLConnection & ~Copyable>(
            before moment: Timestamp,
            of account: Account,
            _ key: [SQLValue],
            on connection: borrowing Connection
        ) throws -> Found {
            var newest = Found()
            var (low, high) = (Int64(0), account.entryCount)
            while low < high {
                let middle = low + (high - low + 1) / 2
                let entry: Found? = try connection.first(
                    """
                    SELECT number, at, earned FROM entries
                    WHERE owner = $1 AND currency = $2 AND number = $3
                    """,
                    key + [.integer(middle)]
                )
                guard let entry else { throw LedgerError.corrupt("an account's entries") }
                if entry.at < moment.milliseconds {
                    newest = entry
                    low = middle
                } else {
                    high = middle - 1
                }
            }
            return newest
        }
    }
}

extension EarningsSlice: RowValue {
    package init(row: borrowing some LedgerRow & ~Copyable) throws {
        self.init(
            start: Timestamp(
                milliseconds: try row.integer(0) * EarningsRange.slice.wholeMilliseconds
            ),
            kind: try row.text(1),
            isDebit: try row.integer(2) != 0,
            count: try row.integer(3),
            amount: try row.integer(4)
        )
    }
}
