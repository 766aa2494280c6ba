internal import GotchuCore
internal import Ledger
internal import Postgres
internal import SQLite

/// Reads every row of a ledger in an order in which it can be checked, from one snapshot.
struct AuditRun {
    let rules: LedgerRules
    let records: [RecordRule]
    let pins: [SealPin]

    /// A source that reads any number of rows one by one.
    protocol Source: ~Copyable {
        borrowing func each<Row: RowValue>(
            _ sql: String,
            as type: Row.Type,
            _ body: (Row) throws -> Void
        ) throws
    }

    /// Adds the checks that both engines share.
    func add<S: Source & SQLConnection & ~Copyable>(
        to audit: inout Audit,
        from source: borrowing S
    ) throws {
        for check in AuditCheck.all { audit.findings.append(try check.finding(in: source)) }
        audit.findings.append(try refusals(in: source))
        audit.findings.append(try accounts(in: source))
        audit.findings += try recordFindings(in: source)
        let (seals, heads) = try seals(in: source)
        audit.findings.append(seals)
        audit.heads = heads
        if !pins.isEmpty { audit.findings.append(try pinned(in: source)) }
    }

    // MARK: Refusals

    private func refusals<S: Source & ~Copyable>(in source: borrowing S) throws -> Audit.Finding {
        var count: Int64 = 0
        var violation: String?
        try source.each(
            "SELECT refusal FROM answers WHERE refusal IS NOT NULL",
            as: String.self
        ) { json in
            count += 1
            if (try? decoded(Refusal.self, from: json)) == nil {
                violation = violation ?? "the refusal \(json) cannot be read"
            }
        }
        return Audit.Finding(
            rule: "every remembered refusal has a known reason (answers)",
            count: count,
            violation: violation,
            remedy: .update
        )
    }

    // MARK: Accounts

    /// An account, or one of its entries.
    private struct AccountLine: RowValue {
        let key: Account.Key
        let account: Account?
        let entry: Entry?

        /// The query: each account comes after all of its entries.
        static let query = """
            SELECT owner, currency, number, record, step, kind, at, amount, balance, earned
            FROM entries
            UNION ALL
            SELECT owner, currency, 9223372036854775807, NULL, NULL, NULL, changed_at,
                entry_count, balance, earned
            FROM accounts ORDER BY 1, 2, 3
            """

        init(row: borrowing some LedgerRow & ~Copyable) throws {
            key = try row.accountKey(0)
            let isEntry = try row.optionalText(3) != nil
            entry = isEntry ? try Entry(row: row) : nil
            account =
                isEntry
                ? nil
                : Account(
                    key,
                    balance: try row.integer(8),
                    earned: try row.integer(9),
                    entryCount: try row.integer(7),
                    changedAt: try row.time(6)
                )
        }
    }

    private func accounts<S: Source & ~Copyable>(in source: borrowing S) throws -> Audit.Finding {
        var count: Int64 = 0
        var violation: String?
        var check: AccountCheck?
        try source.each(AccountLine.query, as: AccountLine.self) { line in
            if check?.key != line.key {
                if let check, violation == nil { violation = check.violation(nil) }
                check = AccountCheck(line.key, rules)
            }
            if let entry = line.entry {
                count += 1
                let found = check?.add(entry)
                violation = violation ?? found
            } else {
                let found = check?.violation(line.account)
                violation = violation ?? found
                check = nil
            }
        }
        if let check, violation == nil { violation = check.violation(nil) }
        return Audit.Finding(
            rule: "every account is the sum of its entries, which have no gap (entries)",
            count: count,
            violation: violation
        )
    }

    // MARK: Records

    /// A row about a record: the record, a transfer, an entry, an answer, a name or a child.
    private struct RecordLine: RowValue {
        enum Content {
            case record(Record)
            case transfer(step: String, kind: String, at: Timestamp, hash: [UInt8])
            case entry(Entry)
            case answer(Answer)
            case name(Name)
            case child(Int64, Record)
        }

        let record: RecordID
        let content: Content

        /// Returns the query. A record's rows are sorted by type, then by step or name.
        static func query(for dialect: Dialect) -> String {
            // A distributed engine joins only rows of one server. The LIMIT makes it collect all
            // records on one server first.
            let all = "(SELECT * FROM records LIMIT 9223372036854775807) AS records"
            let records = dialect == .distributed ? all : "records"
            return """
                \(query)
                UNION ALL
                SELECT children.parent, 6, '', records.kind, records.owner, records.state,
                    records.version, records.created_at, records.due_at, records.body,
                    records.id, children.number, NULL, NULL
                FROM children JOIN \(records) ON records.id = children.record
                ORDER BY 1, 2, 3
                """
        }

        private static let query = """
            SELECT id, 1, '', kind, owner, state, version, created_at, due_at, body,
                CAST(NULL AS text), CAST(NULL AS bigint), CAST(NULL AS bigint),
                CAST(NULL AS bytea) FROM records
            UNION ALL
            SELECT record, 2, step, kind, NULL, NULL, at, NULL, NULL, NULL,
                NULL, NULL, NULL, hash FROM transfers
            UNION ALL
            SELECT record, 3, step, kind, owner, currency, number, at, amount, NULL,
                NULL, balance, earned, NULL FROM entries
            UNION ALL
            SELECT record, 4, step, key, user_id, command, decided_at, NULL, NULL, outcome,
                request_id, NULL, NULL, fingerprint FROM answers WHERE outcome IS NOT NULL
            UNION ALL
            SELECT target, 5, name, NULL, NULL, NULL, until, NULL, NULL, NULL,
                NULL, NULL, NULL, NULL FROM names
            """

        init(row: borrowing some LedgerRow & ~Copyable) throws {
            record = RecordID(trusted: try row.text(0))
            switch try row.integer(1) {
            case 1: content = .record(try Self.record(row, id: record))
            case 2:
                content = .transfer(
                    step: try row.text(2),
                    kind: try row.text(3),
                    at: try row.time(6),
                    hash: try row.blob(13)
                )
            case 3: content = .entry(try Self.entry(row))
            case 4: content = .answer(try Self.answer(row))
            case 6:
                let id = RecordID(trusted: try row.text(10))
                content = .child(try row.integer(11), try Self.record(row, id: id))
            default:
                let until = try row.optionalTime(6)
                content = .name(Name(try row.text(2), target: record.rawValue, until: until))
            }
        }

        private static func record(
            _ row: borrowing some LedgerRow & ~Copyable,
            id: RecordID
        ) throws -> Record {
            Record(
                id: id,
                kind: try row.text(3),
                owner: UserID(trusted: try row.text(4)),
                state: try row.text(5),
                version: try row.integer(6),
                createdAt: try row.time(7),
                dueAt: try row.optionalTime(8),
                body: try row.text(9)
            )
        }

        private static func entry(_ row: borrowing some LedgerRow & ~Copyable) throws -> Entry {
            Entry(
                account: try row.accountKey(4),
                number: try row.integer(6),
                transfer: Transfer.Key(RecordID(trusted: try row.text(0)), try row.text(2)),
                kind: try row.text(3),
                at: try row.time(7),
                amount: try row.integer(8),
                balance: try row.integer(11),
                earned: try row.integer(12)
            )
        }

        private static func answer(_ row: borrowing some LedgerRow & ~Copyable) throws -> Answer {
            guard let key = IdempotencyKey(rawValue: try row.text(3)),
                let fingerprint = Fingerprint(bytes: try row.blob(13))
            else { throw LedgerError.corrupt("an answer's key") }
            return Answer(
                key: Answer.Key(
                    user: UserID(trusted: try row.text(4)),
                    command: try row.text(5),
                    key: key
                ),
                fingerprint: fingerprint,
                decision: .outcome(try row.text(9)),
                record: RecordID(trusted: try row.text(0)),
                step: try row.optionalText(2),
                requestID: try row.text(10),
                decidedAt: try row.time(6)
            )
        }
    }

    /// The collected rows of one record.
    private struct Gathered {
        let id: RecordID
        var record: Record?
        var heads: [(step: String, kind: String, at: Timestamp, hash: [UInt8])] = []
        var entries: [String: [Entry]] = [:]
        var answers: [Answer] = []
        var names: [Name] = []
        var children: [(number: Int64, record: Record)] = []

        mutating func add(_ content: RecordLine.Content) {
            switch content {
            case .record(let new): record = new
            case .transfer(let step, let kind, let at, let hash):
                heads.append((step, kind, at, hash))
            case .entry(let entry): entries[entry.transfer.step, default: []].append(entry)
            case .answer(let answer): answers.append(answer)
            case .name(let name): names.append(name)
            case .child(let number, let record): children.append((number, record))
            }
        }

        /// The transfers with their entries and stored hashes.
        var transfers: [(transfer: Transfer, hash: [UInt8])] {
            heads.map { head in
                let transfer = Transfer(
                    key: Transfer.Key(id, head.step),
                    kind: head.kind,
                    at: head.at,
                    entries: entries[head.step] ?? []
                )
                return (transfer, head.hash)
            }
        }
    }

    private struct Tally {
        var transfers: (count: Int64, violation: String?) = (0, nil)
        var answers: (count: Int64, violation: String?) = (0, nil)
        var kinds: (count: Int64, violation: String?) = (0, nil)
        var records: [(count: Int64, violation: String?)]
    }

    private static let answersRule = """
        every transfer made with a key has one answer, and every answer its transfer or record \
        (answers)
        """

    private func recordFindings<S: Source & SQLConnection & ~Copyable>(
        in source: borrowing S
    ) throws -> [Audit.Finding] {
        var tally = Tally(records: records.map { _ in (0, nil) })
        var gathered: Gathered?
        try source.each(RecordLine.query(for: source.dialect), as: RecordLine.self) { line in
            if gathered?.id != line.record {
                if let gathered { check(gathered, &tally) }
                gathered = Gathered(id: line.record)
            }
            gathered?.add(line.content)
        }
        if let gathered { check(gathered, &tally) }
        return [
            Audit.Finding(
                rule:
                    "every transfer has a known kind, sums to zero and fits its hash (transfers)",
                count: tally.transfers.count,
                violation: tally.transfers.violation
            ),
            Audit.Finding(
                rule: Self.answersRule,
                count: tally.answers.count,
                violation: tally.answers.violation
            ),
            Audit.Finding(
                rule: "every record has a known kind (records)",
                count: tally.kinds.count,
                violation: tally.kinds.violation,
                remedy: .update
            ),
        ]
            + zip(records, tally.records).map { rule, found in
                Audit.Finding(rule: rule.rule, count: found.count, violation: found.violation)
            }
    }

    private func check(_ gathered: Gathered, _ tally: inout Tally) {
        let transfers = gathered.transfers
        for (transfer, hash) in transfers {
            tally.transfers.count += 1
            tally.transfers.violation =
                tally.transfers.violation ?? rules.violation(transfer, storedHash: hash)
            let answers = gathered.answers.filter { $0.transfer == transfer.key }
            tally.answers.violation =
                tally.answers.violation
                ?? rules.violation(
                    transfer,
                    answeredBy: answers,
                    isRecorded: gathered.record != nil
                )
        }
        let steps = Set(gathered.heads.map(\.step))
        if let step = gathered.entries.keys.first(where: { !steps.contains($0) }) {
            tally.transfers.violation =
                tally.transfers.violation ?? "transfer \(step) of \(gathered.id) is missing"
        }
        tally.answers.count += Int64(gathered.answers.count)
        for answer in gathered.answers where tally.answers.violation == nil {
            tally.answers.violation = violation(of: answer, among: steps, gathered.record)
        }
        guard let record = gathered.record else { return }
        tally.kinds.count += 1
        if !records.contains(where: { $0.kind == record.kind }) {
            tally.kinds.violation =
                tally.kinds.violation ?? "record \(record.id) has the unknown kind \(record.kind)"
        }
        let rows = RecordRows(
            record: record,
            transfers: transfers.map(\.transfer),
            answers: gathered.answers,
            names: gathered.names,
            children: gathered.children.sorted { $0.number < $1.number }
        )
        for (index, rule) in records.enumerated() where rule.kind == record.kind {
            tally.records[index].count += 1
            tally.records[index].violation =
                tally.records[index].violation ?? rule.violation(record, rows)
        }
    }

    /// Returns the reason why an answer with an outcome is wrong, if it is: the transfer that it
    /// names must exist. If it names none, its record must exist, and its outcome must be the
    /// record's id.
    private func violation(
        of answer: Answer,
        among steps: Set<String>,
        _ record: Record?
    ) -> String? {
        if let step = answer.step {
            return steps.contains(step)
                ? nil : "an answer names transfer \(step) of \(answer.record), which is missing"
        }
        guard record != nil else {
            return "an answer names record \(answer.record), which is missing"
        }
        guard case .outcome(let json) = answer.decision,
            (try? decoded(RecordID.self, from: json)) == answer.record
        else {
            return "an answer of \(answer.record) names no transfer, and its outcome is not the "
                + "record's id"
        }
        return nil
    }
}
