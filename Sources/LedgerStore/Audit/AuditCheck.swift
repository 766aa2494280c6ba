internal import Ledger

/// One rule as two queries: the number of rows that it concerns, and the first row that breaks it,
/// as text. The SQL is the same for both engines. Its time grows linearly with the tables, not
/// quadratically: sets are compared by EXCEPT.
struct AuditCheck {
    let rule: String
    let count: String
    let firstViolation: String
    var remedy = Audit.Remedy.restore

    static let all = [
        conservation, users, names, owners, pots, children, answers, devices, deliveries, due,
    ]

    func finding<S: AuditRun.Source & ~Copyable>(in source: borrowing S) throws -> Audit.Finding {
        var rows: Int64 = 0
        try source.each(count, as: Int64.self) { rows = $0 }
        var violation: String?
        try source.each(firstViolation, as: String.self) { violation = violation ?? $0 }
        return Audit.Finding(rule: rule, count: rows, violation: violation, remedy: remedy)
    }

    /// The sum of all balances, computed in two halves: a plain sum may overflow, which is an error
    /// in SQLite.
    private static let total =
        "sum(balance >> 32) * 4294967296 + sum(balance & 4294967295)"

    private static let conservation = AuditCheck(
        rule: "the balances of all accounts sum to zero in each currency (currencies)",
        count: "SELECT count(DISTINCT currency) FROM accounts",
        firstViolation: """
            SELECT 'the balances in ' || currency || ' sum to ' || (\(total)) FROM accounts
            GROUP BY currency HAVING \(total) <> 0 LIMIT 1
            """
    )

    private static let users = AuditCheck(
        rule: "every user is found by one login, and has an account (users)",
        count: "SELECT count(*) FROM users",
        firstViolation: """
            SELECT 'user ' || id || ' cannot be found by its login' FROM (
                SELECT id, '\(User.name(ofLogin: ""))' || login AS name FROM users
                EXCEPT SELECT target, name FROM names
            ) AS unnamed
            UNION ALL
            SELECT 'user ' || target || ' has a second login' FROM (
                SELECT target, name FROM names WHERE name LIKE '\(User.name(ofLogin: ""))%'
                EXCEPT SELECT id, '\(User.name(ofLogin: ""))' || login FROM users
            ) AS surplus
            UNION ALL
            SELECT 'user ' || id || ' has no account' FROM (
                SELECT id FROM users EXCEPT SELECT owner FROM accounts
            ) AS without LIMIT 1
            """
    )

    private static let names = AuditCheck(
        rule: "every name stands for a record or a user (names)",
        count: "SELECT count(*) FROM names",
        firstViolation: """
            SELECT 'a name stands for ' || target || ', which is missing' FROM (
                SELECT target FROM names EXCEPT SELECT id FROM records EXCEPT SELECT id FROM users
            ) AS lost LIMIT 1
            """
    )

    private static let owners = AuditCheck(
        rule: "every account, record and endpoint has an owner (accounts, records, endpoints)",
        count: "SELECT (SELECT count(*) FROM accounts) + (SELECT count(*) FROM records)",
        firstViolation: """
            SELECT 'owner ' || owner || ' is missing' FROM (
                SELECT CASE \(ownersUser) ELSE owner END AS owner FROM accounts
                WHERE owner NOT IN (\(sqlList(HouseAccount.allCases))) AND owner NOT LIKE 'pot:%'
                UNION SELECT owner FROM records
                UNION SELECT owner FROM endpoints WHERE owner IS NOT NULL
                EXCEPT SELECT id FROM users
            ) AS lost LIMIT 1
            """
    )

    /// The user of a house account that belongs to one user.
    private static let ownersUser = UserHouseAccount.allCases.map { account in
        let length = account.prefix.utf8.count
        return "WHEN owner LIKE '\(account.prefix)%' THEN substr(owner, \(length + 1))"
    }.joined(separator: " ")

    private static let pots = AuditCheck(
        rule: "every pot belongs to a record (accounts)",
        count: "SELECT count(*) FROM accounts WHERE owner LIKE 'pot:%'",
        firstViolation: """
            SELECT 'record ' || id || ' has a pot, but is missing' FROM (
                SELECT substr(owner, 5) AS id FROM accounts WHERE owner LIKE 'pot:%'
                EXCEPT SELECT id FROM records
            ) AS lost LIMIT 1
            """
    )

    private static let children = AuditCheck(
        rule: "every child and its parent are records, and no child has two parents (children)",
        count: "SELECT count(*) FROM children",
        firstViolation: """
            SELECT 'record ' || id || ' is missing' FROM (
                SELECT record AS id FROM children UNION SELECT parent FROM children
                EXCEPT SELECT id FROM records
            ) AS lost
            UNION ALL
            SELECT 'record ' || record || ' has two parents' FROM children
            GROUP BY record HAVING count(*) > 1 LIMIT 1
            """
    )

    private static let answers = AuditCheck(
        rule: "every answer was given to a user (answers)",
        count: "SELECT count(*) FROM answers",
        firstViolation: "\(lost("user", "user_id", of: "answers", in: "users")) LIMIT 1"
    )

    private static let devices = AuditCheck(
        rule: "every device acts for a user (devices)",
        count: "SELECT count(*) FROM devices",
        firstViolation: "\(lost("user", "user_id", of: "devices", in: "users")) LIMIT 1"
    )

    private static let deliveries = AuditCheck(
        rule: "every delivery goes to an endpoint, for a record (deliveries)",
        count: "SELECT count(*) FROM deliveries",
        firstViolation: """
            \(lost("endpoint", "endpoint", of: "deliveries", in: "endpoints"))
            UNION ALL \(lost("record", "record", of: "deliveries", in: "records")) LIMIT 1
            """,
        remedy: .recreate
    )

    /// Returns a query for the values of a column that are not ids in another table.
    private static func lost(
        _ thing: String,
        _ column: String,
        of table: String,
        in parent: String
    ) -> String {
        """
        SELECT '\(thing) ' || \(column) || ' is missing' FROM (
            SELECT \(column) FROM \(table) EXCEPT SELECT id FROM \(parent)
        ) AS lost
        """
    }

    private static let due = AuditCheck(
        rule: "the due table lists exactly the records with a due time (due)",
        count: "SELECT count(*) FROM due",
        firstViolation: """
            SELECT 'record ' || id || ' is not in the due table with its own values' FROM (
                SELECT owner, id, kind, due_at FROM records WHERE due_at IS NOT NULL
                EXCEPT SELECT owner, record, kind, due_at FROM due
            ) AS missing
            UNION ALL
            SELECT 'record ' || record || ' is in the due table with other values' FROM (
                SELECT owner, record, kind, due_at FROM due
                EXCEPT SELECT owner, id, kind, due_at FROM records WHERE due_at IS NOT NULL
            ) AS surplus LIMIT 1
            """,
        remedy: .recreate
    )
}
