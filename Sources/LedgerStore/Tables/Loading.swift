internal import GotchuCore
internal import Ledger
internal import Postgres
internal import SQLite

/// Loads a footprint with a few set statements. PostgreSQL runs them in one round trip, for any
/// number of commands.
///
/// Rows that may change are locked first: records, then accounts, each in key order, so that two
/// servers never deadlock. Later statements see the changes of the transactions that held the locks
/// before.
///
/// A distributed engine can lock only the rows of one shard in a statement, so each row has its own
/// statement there. A transaction becomes visible there on one server after another. A payer's
/// answers are stored with their account, whose lock was waited for: they are current. If any other
/// row is read too early, writing it causes a primary key conflict, and the batch is decided again.
struct Loading {
    private(set) var footprint: Footprint
    let dialect: Dialect
    /// A Boolean that is true if rows locked by other transactions are skipped and listed in the
    /// snapshot instead of waited for.
    var skipsLocked = false
    /// The children's ids, on a distributed engine.
    private var foundChildren: Set<String> = []

    init(footprint: Footprint, dialect: Dialect, skipsLocked: Bool = false) {
        self.footprint = footprint
        self.dialect = dialect
        self.skipsLocked = skipsLocked
    }

    private var lock: String { dialect.lock + (skipsLocked ? " SKIP LOCKED" : "") }

    /// The statements, in order.
    var steps: [any LoadingStep] { locatedSteps + laterSteps }

    /// The statements that find the owners of records, and children. A distributed engine runs them
    /// before the others, because it finds rows only by known keys.
    var locatedSteps: [any LoadingStep] {
        (footprint.needsNewestSeal ? [newestSeal] : []) + records + children
    }

    var laterSteps: [any LoadingStep] {
        childRecords + (footprint.needsAnotherRound ? [] : accounts) + names + users + dueCounts
            + answers
    }

    /// A Boolean that is true if a distributed engine needs the results of `locatedSteps`.
    var isLocating: Bool { !footprint.ownedRecords.isEmpty || !footprint.children.isEmpty }

    /// Adds the owners of the records, and the children, that `locatedSteps` found.
    mutating func locate(in rows: Snapshot) {
        let found = footprint.children.flatMap { rows.children[$0, default: [:]].values }
        foundChildren = Set(found.map(\.rawValue))
        let records = footprint.ownedRecords.compactMap { rows.records[$0] }
        footprint.owners.formUnion(records.flatMap(\.accountOwners))
        footprint.ownedRecords = []
    }

    /// Finds rows by a text: one statement, or on a distributed engine one for each text.
    ///
    /// - Parameters:
    ///   - place: The beginning of the condition: "FROM names WHERE name".
    ///   - end: The text that follows it.
    ///   - none: Called before any row.
    private func steps<Row: RowValue>(
        _ list: String,
        _ place: String,
        in texts: some Sequence<String>,
        end: String = "",
        none: @escaping (inout Snapshot) -> Void = { _ in },
        take: @escaping (Row, inout Snapshot) -> Void
    ) -> [any LoadingStep] {
        let sql = "SELECT \(list) \(place)"
        guard dialect == .distributed else {
            let all = SQLValue.list(Array(texts))
            let one = "\(sql) \(dialect.isIn("$1"))\(end)"
            return [Step<Row>(one, [all], none: none, take: take)]
        }
        return texts.sorted().enumerated().map { index, text in
            Step<Row>(
                "\(sql) = $1\(end)",
                [.text(text)],
                none: index == 0 ? none : { _ in },
                take: take
            )
        }
    }

    /// Reads the newest seal by the primary key: the last one of the newest chain.
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
        let ids = footprint.records.union(footprint.children).map(\.rawValue)
        guard !ids.isEmpty else { return [] }
        return records { end, take in
            steps(Columns.records.list, "FROM records WHERE id", in: ids, end: end, take: take)
        }
    }

    /// Reads the children's numbers and ids, once their parents are locked.
    private var children: [any LoadingStep] {
        guard !footprint.children.isEmpty else { return [] }
        let parents = footprint.children
        return steps(
            Columns.children.list,
            "FROM children WHERE parent",
            in: parents.map(\.rawValue),
            none: { rows in for parent in parents { rows.children[parent] = [:] } },
            take: { (child: Child, rows) in
                rows.children[child.parent]?[child.number] = child.record
            }
        )
    }

    /// Reads the children's records. Their ids are read in a later statement than the one that
    /// locked the parents, so that it sees the changes that the lock waited for.
    private var childRecords: [any LoadingStep] {
        guard !footprint.children.isEmpty else { return [] }
        let (list, place) = (Columns.records.list, "FROM records WHERE id")
        return records { end, take in
            if dialect == .distributed {
                return steps(list, place, in: foundChildren, end: end, take: take)
            }
            let found = "SELECT record FROM children WHERE parent \(dialect.isIn("$1"))"
            let sql = "SELECT \(list) \(place) \(dialect.isAmong(found))\(end)"
            return [Step<Record>(sql, [.list(footprint.children.map(\.rawValue))], take: take)]
        }
    }

    /// Returns the statements that lock the records found by `find`.
    private func records(
        _ find: (String, @escaping (Record, inout Snapshot) -> Void) -> [any LoadingStep]
    ) -> [any LoadingStep] {
        let locked = find(" ORDER BY id\(lock)") { $1.records[$0.id] = $0 }
        guard skipsLocked else { return locked }
        return locked
            + find("") { record, rows in
                if rows.records[record.id] == nil { rows.lockedElsewhere.records.insert(record.id) }
            }
    }

    /// Reads the accounts. PostgreSQL's statement has no join and no IN (SELECT): with these it
    /// might omit a row that it waited for (EvalPlanQual), and an account would seem to be missing.
    private var accounts: [any LoadingStep] {
        let locked = accounts(end: " ORDER BY owner, currency\(lock)") {
            $1.accounts[$0.key] = $0
        }
        guard skipsLocked else { return locked }
        return locked
            + accounts { account, rows in
                if rows.accounts[account.key] == nil {
                    rows.lockedElsewhere.owners.insert(account.key.owner)
                }
            }
    }

    private func accounts(
        end: String = "",
        take: @escaping (Account, inout Snapshot) -> Void
    ) -> [any LoadingStep] {
        guard !footprint.owners.isEmpty || !footprint.ownedRecords.isEmpty else { return [] }
        let list = Columns.accounts.list
        let owners = footprint.owners.map(\.rawValue)
        let part = UserHouseAccount.take.prefix
        let found: String
        switch dialect {
        case .sqlite:
            found = """
                IN (
                    SELECT value FROM json_each($1) UNION
                    SELECT prefix || owner FROM (SELECT '' AS prefix UNION SELECT '\(part)')
                        JOIN records WHERE id IN (SELECT value FROM json_each($2))
                )
                """
        case .postgresql:
            found = """
                = ANY ($1::text[] || ARRAY(
                    SELECT unnest(ARRAY[owner, '\(part)' || owner])
                    FROM records WHERE id = ANY ($2::text[])
                ))
                """
        case .distributed:
            return steps(list, "FROM accounts WHERE owner", in: owners, end: end, take: take)
        }
        let values: [SQLValue] = [.list(owners), .list(footprint.ownedRecords.map(\.rawValue))]
        let sql = "SELECT \(list) FROM accounts WHERE owner \(found)\(end)"
        return [Step<Account>(sql, values, take: take)]
    }

    /// Reads the names. The last round locks them; otherwise two servers could claim the same
    /// expired name.
    private var names: [any LoadingStep] {
        guard !footprint.names.isEmpty else { return [] }
        let (list, place) = (Columns.names.list, "FROM names WHERE name")
        let end = footprint.needsAnotherRound ? "" : " ORDER BY name\(lock)"
        let wanted = footprint.names
        // Names read in an earlier round may belong to another target by now.
        let read = steps(
            list,
            place,
            in: wanted,
            end: end,
            none: { rows in for text in wanted { rows.names[text] = nil } },
            take: { (name: Name, rows) in rows.names[name.text] = name }
        )
        guard skipsLocked, !footprint.needsAnotherRound else { return read }
        return read
            + steps(list, place, in: footprint.names) { (name: Name, rows) in
                if rows.names[name.text] == nil { rows.lockedElsewhere.names.insert(name.text) }
            }
    }

    private var users: [any LoadingStep] {
        guard !footprint.users.isEmpty else { return [] }
        let ids = footprint.users.map(\.rawValue)
        return steps(Columns.users.list, "FROM users WHERE id", in: ids) { (user: User, rows) in
            rows.users[user.id] = user
        }
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
        Dictionary(grouping: footprint.dueGroups, by: \.kind).flatMap { kind, groups in
            dueCounts(of: kind, groups.map(\.owner.rawValue))
        }
    }

    private func dueCounts(of kind: String, _ owners: [String]) -> [any LoadingStep] {
        let take: (Count, inout Snapshot) -> Void = {
            $1.dueCounts[RecordGroup(owner: $0.owner, kind: kind)] = $0.count
        }
        let wanted: String
        switch dialect {
        case .sqlite: wanted = "(SELECT value AS owner FROM json_each($2)) AS wanted"
        case .postgresql: wanted = "unnest($2::text[]) AS wanted (owner)"
        case .distributed:
            let sql = """
                SELECT CAST($2 AS text), count(*) FROM due WHERE owner = $2 AND kind = $1
                """
            return owners.map { Step<Count>(sql, [.text(kind), .text($0)], take: take) }
        }
        let sql = """
            SELECT wanted.owner,
                (SELECT count(*) FROM due WHERE due.owner = wanted.owner AND due.kind = $1)
            FROM \(wanted)
            """
        return [Step<Count>(sql, [.text(kind), .list(owners)], take: take)]
    }

    /// Reads each answer by its key. On PostgreSQL, LIMIT prevents a join: a join plan that was
    /// cached while the table was small might compare each key with all rows.
    private var answers: [any LoadingStep] {
        let columns = Columns.answers.list
        let take: (Answer, inout Snapshot) -> Void = { $1.answers[$0.key] = $0 }
        let keys = Array(footprint.answers)
        guard !keys.isEmpty else { return [] }
        switch dialect {
        case .sqlite, .distributed:
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

/// A loading statement, for either engine.
protocol LoadingStep {
    func run(on connection: borrowing SQLite.Connection, into rows: inout Snapshot) throws
    func query(into rows: LoadedRows) -> Postgres.Query
}

/// The rows collected by the result handlers of one exchange with the database.
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
