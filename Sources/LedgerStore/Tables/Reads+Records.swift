internal import GotchuCore
internal import Ledger

/// Queries for records, children, and due records.
extension Reads {
    static func records(_ page: RecordPage) -> Select<Record> {
        let end = "kind = $1 AND id < $2 AND \(Schema.isListed) ORDER BY id DESC LIMIT $3"
        let sql = "SELECT \(Columns.records.list) FROM records WHERE"
        let values: [SQLValue] = [
            // Ids consist of letters, digits and hyphens, which sort before a tilde.
            .text(page.kind), .text(page.before?.rawValue ?? "~"), .integer(Int64(page.limit)),
        ]
        guard let owner = page.owner else { return Select("\(sql) \(end)", values) }
        return Select("\(sql) owner = $4 AND \(end)", values + [.text(owner.rawValue)])
    }

    static func children(of parent: RecordID, after: Int64, limit: Int) -> Children {
        Children(parent: parent, after: after, limit: limit)
    }

    /// Reads the children's ids by key, then their records by id. There is no join, because no
    /// server of a distributed engine has both. Children and records are never removed.
    struct Children: StoreQuery {
        static let isHeavy = true

        fileprivate let parent: RecordID
        fileprivate let after: Int64
        fileprivate let limit: Int

        func run<Connection: SQLConnection & ~Copyable>(
            on connection: borrowing Connection
        ) throws -> [NumberedRecord] {
            let places: [Child] = try connection.rows(
                """
                SELECT \(Columns.children.list) FROM children
                WHERE parent = $1 AND number > $2 ORDER BY number LIMIT $3
                """,
                [.text(parent.rawValue), .integer(after), .integer(Int64(limit))]
            )
            let records: [Record] = try connection.rows(
                """
                SELECT \(Columns.records.list) FROM records
                WHERE id \(connection.dialect.isIn("$1"))
                """,
                [.list(places.map(\.record.rawValue))]
            )
            let known = Dictionary(uniqueKeysWithValues: records.map { ($0.id, $0) })
            return try places.map { place in
                guard let record = known[place.record] else {
                    throw LedgerError.corrupt("a record's child")
                }
                return NumberedRecord(number: place.number, record: record)
            }
        }
    }

    static func due(
        at time: Timestamp,
        excluding kinds: [String],
        skipping: Int,
        limit: Int
    ) -> Due {
        Due(time: time, passed: kinds, skipping: skipping, limit: limit)
    }

    struct Due: StoreQuery {
        fileprivate let time: Timestamp
        fileprivate let passed: [String]
        fileprivate let skipping: Int
        fileprivate let limit: Int

        func run<Connection: SQLConnection & ~Copyable>(
            on connection: borrowing Connection
        ) throws -> [DueRecord] {
            try connection.rows(
                """
                SELECT record, kind FROM due
                WHERE due_at <= $1 AND NOT kind \(connection.dialect.isIn("$2"))
                ORDER BY due_at LIMIT $3 OFFSET $4
                """,
                [
                    .integer(time.milliseconds), .list(passed), .integer(Int64(limit)),
                    .integer(Int64(skipping)),
                ]
            )
        }
    }

    /// Leases due records. Each record is leased by its key: if two servers have found the same
    /// record, only one gets it.
    struct DueClaim: StoreQuery {
        let kind: String
        let time: Timestamp
        let leaseEnd: Timestamp
        let limit: Int

        private struct Place: RowValue {
            let owner: String
            let record: String

            init(row: borrowing some LedgerRow & ~Copyable) throws {
                (owner, record) = (try row.text(0), try row.text(1))
            }
        }

        func run<Connection: SQLConnection & ~Copyable>(
            on connection: borrowing Connection
        ) throws -> [DueRecord] {
            let isFree = "due_at <= $1 AND (leased_until IS NULL OR leased_until <= $1)"
            let now = SQLValue.integer(time.milliseconds)
            let found: [Place] = try connection.rows(
                """
                SELECT owner, record FROM due
                WHERE \(isFree) AND kind = $2 AND \(Schema.isListed) ORDER BY due_at LIMIT $3
                """,
                [now, .text(kind), .integer(Int64(limit))]
            )
            return try found.filter { place in
                try connection.run(
                    """
                    UPDATE due SET leased_until = $2 WHERE owner = $3 AND record = $4 AND \(isFree)
                    """,
                    [
                        now, .integer(leaseEnd.milliseconds), .text(place.owner),
                        .text(place.record),
                    ]
                ) == 1
            }.map { DueRecord(id: RecordID(trusted: $0.record), kind: kind) }
        }
    }
}
