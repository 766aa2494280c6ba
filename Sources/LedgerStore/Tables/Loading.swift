internal import GotchuCore
internal import Ledger
internal import Postgres
internal import SQLite

/// Loading a footprint: a handful of set statements, however many commands wait, in one round trip.
///
/// First the rows that may change are locked: records, then accounts, each in the order of their
/// keys, so that two servers never wait for each other in a circle. What is read after that,
/// statement by statement, is as those left it who held the locks before.
struct Loading {
    let footprint: Footprint
    let dialect: Dialect
    /// A Boolean that is true if rows that another transaction holds are passed over, and named in
    /// the snapshot, instead of waited for.
    var isPassingHeld = false

    private var lock: String {
        switch (dialect, isPassingHeld) {
        case (.sqlite, _): ""
        case (.postgresql, false): " FOR UPDATE"
        case (.postgresql, true): " FOR UPDATE SKIP LOCKED"
        }
    }

    /// The statements, in their order.
    var steps: [any LoadingStep] {
        var steps: [any LoadingStep] = []
        if footprint.needsNewestSeal { steps.append(newestSeal) }
        steps += records
        if !footprint.asksAgain { steps += accounts }
        steps += names + users + dueCounts + answers
        return steps
    }

    /// By the primary key: the newest chain's last.
    private var newestSeal: any LoadingStep {
        let columns = Columns.seals.list
        return Step<Seal>(
            "SELECT \(columns) FROM seals ORDER BY chain DESC, number DESC LIMIT 1",
            [],
            none: { $0.newestSeal = $0.newestSeal ?? .origin },
            take: { seal, rows in rows.newestSeal = seal }
        )
    }

    private var records: [any LoadingStep] {
        guard !footprint.records.isEmpty else { return [] }
        let sql = "SELECT \(Columns.records.list) FROM records WHERE id \(dialect.isIn("$1"))"
        let ids: [SQLValue] = [.list(footprint.records.map(\.rawValue))]
        let locked = Step<Record>("\(sql) ORDER BY id\(lock)", ids) { record, rows in
            rows.records[record.id] = record
        }
        guard isPassingHeld else { return [locked] }
        let all = Step<Record>(sql, ids) { record, rows in
            if rows.records[record.id] == nil { rows.held.records.insert(record.id) }
        }
        return [locked, all]
    }

    /// No join and no IN (SELECT …) for PostgreSQL: of a statement with those it may leave out a
    /// row that it has waited for (EvalPlanQual), and an account would seem not to be there.
    private var accounts: [any LoadingStep] {
        guard !footprint.owners.isEmpty || !footprint.ownedRecords.isEmpty else { return [] }
        let owners =
            switch dialect {
            case .sqlite:
                """
                IN (
                    SELECT value FROM json_each($1) UNION
                    SELECT owner FROM records WHERE id IN (SELECT value FROM json_each($2))
                )
                """
            case .postgresql:
                """
                = ANY ($1::text[] || ARRAY(SELECT owner FROM records WHERE id = ANY ($2::text[])))
                """
            }
        let sql = "SELECT \(Columns.accounts.list) FROM accounts WHERE owner \(owners)"
        let values: [SQLValue] = [
            .list(footprint.owners.map(\.rawValue)),
            .list(footprint.ownedRecords.map(\.rawValue)),
        ]
        let locked = Step<Account>("\(sql) ORDER BY owner, currency\(lock)", values) {
            $1.accounts[$0.key] = $0
        }
        guard isPassingHeld else { return [locked] }
        let all = Step<Account>(sql, values) { account, rows in
            if rows.accounts[account.key] == nil { rows.held.owners.insert(account.key.owner) }
        }
        return [locked, all]
    }

    private var names: [any LoadingStep] {
        guard !footprint.names.isEmpty else { return [] }
        let step = Step<Name>(
            "SELECT \(Columns.names.list) FROM names WHERE name \(dialect.isIn("$1"))",
            [.list(Array(footprint.names))]
        ) { $1.names[$0.text] = $0 }
        return [step]
    }

    private var users: [any LoadingStep] {
        guard !footprint.users.isEmpty else { return [] }
        let step = Step<User>(
            "SELECT \(Columns.users.list) FROM users WHERE id \(dialect.isIn("$1"))",
            [.list(footprint.users.map(\.rawValue))]
        ) { $1.users[$0.id] = $0 }
        return [step]
    }

    private struct Count: RowValue {
        let owner: UserID
        let count: Int

        init(row: borrowing some LedgerRow & ~Copyable) throws {
            owner = UserID(trusted: try row.text(0))
            count = Int(try row.integer(1))
        }
    }

    private var dueCounts: [any LoadingStep] {
        let owners =
            switch dialect {
            case .sqlite: "(SELECT value AS owner FROM json_each($2)) AS wanted"
            case .postgresql: "unnest($2::text[]) AS wanted (owner)"
            }
        let sql = """
            SELECT wanted.owner,
                (SELECT count(*) FROM due WHERE due.owner = wanted.owner AND due.kind = $1)
            FROM \(owners)
            """
        return Dictionary(grouping: footprint.dueGroups, by: \.kind).map { kind, groups in
            Step<Count>(sql, [.text(kind), .list(groups.map(\.owner.rawValue))]) {
                $1.dueCounts[RecordGroup(owner: $0.owner, kind: kind)] = $0.count
            }
        }
    }

    /// Key by key, which LIMIT makes sure of: a plan for a join that was made while there were few
    /// rows, and kept, may compare each key with all of them.
    private var answers: [any LoadingStep] {
        let columns = Columns.answers.list
        let take: (Answer, inout Snapshot) -> Void = { $1.answers[$0.key] = $0 }
        let keys = Array(footprint.answers)
        guard !keys.isEmpty else { return [] }
        switch dialect {
        case .sqlite:
            let sql = """
                SELECT \(columns) FROM answers WHERE user_id = $1 AND command = $2 AND key = $3
                """
            return keys.map { key in
                Step<Answer>(
                    sql,
                    [.text(key.user.rawValue), .text(key.command), .text(key.key.rawValue)],
                    take: take
                )
            }
        case .postgresql:
            let sql = """
                SELECT found.* FROM unnest($1::text[], $2::text[], $3::text[])
                    AS wanted (user_id, command, key)
                CROSS JOIN LATERAL (
                    SELECT \(columns) FROM answers
                    WHERE answers.user_id = wanted.user_id AND answers.command = wanted.command
                        AND answers.key = wanted.key LIMIT 1
                ) AS found
                """
            let values: [SQLValue] = [
                .list(keys.map(\.user.rawValue)), .list(keys.map(\.command)),
                .list(keys.map(\.key.rawValue)),
            ]
            return [Step<Answer>(sql, values, take: take)]
        }
    }
}

/// One statement of loading, for either engine.
protocol LoadingStep {
    func run(on connection: borrowing SQLite.Connection, into rows: inout Snapshot) throws
    func query(into rows: LoadedRows) -> Postgres.Query
}

/// A snapshot that several readers of one exchange fill.
final class LoadedRows {
    var snapshot: Snapshot
    var version: Int64 = 0

    init(_ snapshot: Snapshot) {
        self.snapshot = snapshot
    }
}

private struct Step<Row: RowValue>: LoadingStep {
    private let sql: String
    private let values: [SQLValue]
    private let none: (inout Snapshot) -> Void
    private let take: (Row, inout Snapshot) -> Void

    /// - Parameter none: Called before any row.
    init(
        _ sql: String,
        _ values: [SQLValue],
        none: @escaping (inout Snapshot) -> Void = { _ in },
        take: @escaping (Row, inout Snapshot) -> Void
    ) {
        self.sql = sql
        self.values = values
        self.none = none
        self.take = take
    }

    func run(on connection: borrowing SQLite.Connection, into rows: inout Snapshot) throws {
        none(&rows)
        for row in try connection.rows(sql, values, as: Row.self) { take(row, &rows) }
    }

    func query(into rows: LoadedRows) -> Postgres.Query {
        none(&rows.snapshot)
        return Postgres.Query(sql, values.map(Postgres.Value.init)) { [take] row in
            take(try Row(row: row), &rows.snapshot)
        }
    }
}
