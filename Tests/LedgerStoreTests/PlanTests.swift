import GotchuCore
import Ledger
import LedgerTestSupport
import Postgres
import PostgresTestSupport
import SQLite
import TestSupport
import Testing

@testable import LedgerStore

/// The query plans of the stores' statements. The tables may have millions of rows.
@Suite("Plans")
struct PlanTests {
    /// The number of rows that each INSERT writes on PostgreSQL: a million if `effort` is 10 or
    /// more.
    private static let rows = 100_000 * min(effort, 10)

    @Test("No statement reads a whole table on SQLite")
    func sqlite() async throws {
        let database = try await SampleLedger.database(.sqlite)
        let recording = RecordingDatabase(
            try SQLite.Connection(path: database.location, mode: .readWrite)
        )
        try await recording.useEverything()
        var statements = try Statements(.sqlite)
        statements.add(await recording.texts)
        statements.add(["DELETE FROM due WHERE owner = $1 AND record = $2"])
        #expect(statements.texts.count > 45)
        let connection = try SQLite.Connection(path: database.location, mode: .readOnly)
        // Without statistics a plan does not depend on the number of rows.
        let statistics = "SELECT name FROM sqlite_schema WHERE name LIKE 'sqlite_stat%'"
        #expect(try connection.query(statistics) { try $0.text(0) } == [])
        for sql in statements.texts.sorted() {
            let nulls = [SQLite.Value](repeating: .null, count: parameterCount(sql))
            let plan = try connection.query("EXPLAIN QUERY PLAN " + sql, nulls) { try $0.text(3) }
            let scans = plan.filter { line in
                // Here `entries` is the page of a history, found by the index, not the table.
                if line == "SCAN entries LEFT-JOIN", plan.contains("MATERIALIZE entries") {
                    return false
                }
                return Self.tables.contains { line.hasPrefix("SCAN \($0)") }
            }
            // Allowed: the statement reads a limited number of rows from one end of the key.
            let isFromOneEnd =
                sql.contains(" LIMIT ") && !plan.contains { $0.contains("TEMP B-TREE") }
                && scans.count == 1 && (sql.contains("FROM seals") || sql.contains("FROM devices"))
            #expect(scans.isEmpty || isFromOneEnd, "\(sql)\n\(plan)")
        }
    }

    private static let tables = [
        "users", "names", "accounts", "records", "children", "due", "transfers", "entries",
        "answers", "seals", "devices", "deliveries", "web_sessions",
    ]

    private func parameterCount(_ sql: String) -> Int {
        sql.matches(of: /\$([0-9]+)/).compactMap { Int($0.output.1) }.max() ?? 0
    }

    @Test("No statement reads a whole table on PostgreSQL, with or without statistics")
    func postgresql() async throws {
        let database = try await SampleLedger.database(.postgresql)
        let cluster = try PostgresCluster.shared()
        let name = try #require(try database.texts("SELECT current_database()::text").first)
        let texts = try await Self.texts(database)
        #expect(texts.count > 50)
        let early = try cluster.connect(name)
        try PostgreSQLSession.prepareForWriting(early.connection)
        // A server that starts with empty tables plans its statements once.
        try Self.prepare(texts, on: early)
        try expectNoScan(texts, on: early, "new")
        // The writer's time limit does not apply to this session.
        let plain = try cluster.connect(name)
        try plain.connection.execute(Self.filling, within: .seconds(120) * effort)
        try expectNoScan(texts, on: early, "filled")
        // A server that starts with full tables plans its statements anew, as generic plans and as
        // custom plans.
        for preparation in ["SELECT 1", "ANALYZE"] {
            try plain.connection.execute(preparation, within: .seconds(60) * effort)
            for mode in ["force_generic_plan", "force_custom_plan"] {
                let late = try cluster.connect(name)
                try PostgreSQLSession.prepareForWriting(late.connection)
                try late.connection.execute("SET plan_cache_mode = \(mode)")
                try Self.prepare(texts, on: late)
                try expectNoScan(texts, on: late, "\(preparation), \(mode)")
            }
        }
        // The database is dropped, because it is large and its disk is in memory.
        let admin = try cluster.connect("postgres")
        try admin.connection.execute("DROP DATABASE \(name) WITH (FORCE)")
    }

    private static func texts(_ database: TestDatabase) async throws -> [String] {
        let connection = try Postgres.Connection(try ConnectionSettings(url: database.location))
        try PostgreSQLSession.prepare(connection)
        let recording = RecordingDatabase(connection)
        try await recording.useEverything()
        var statements = try Statements(.postgresql)
        statements.add(await recording.texts)
        return statements.texts.sorted()
    }

    private static func prepare(_ texts: [String], on link: PostgresCluster.Link) throws {
        for (number, sql) in texts.enumerated() {
            try link.connection.execute("PREPARE s\(number) AS \(sql)")
        }
    }

    private func expectNoScan(
        _ texts: [String],
        on link: PostgresCluster.Link,
        _ when: String
    ) throws {
        for (number, sql) in texts.enumerated() {
            let count = parameterCount(sql)
            let values = (0..<count).map { sql.contains("LIMIT $\($0 + 1)") ? "9" : "NULL" }
                .joined(separator: ", ")
            let plan = try link.connection.query(
                "EXPLAIN (COSTS OFF) EXECUTE s\(number)\(count == 0 ? "" : "(\(values))")",
                read: { try $0.text(0) }
            )
            #expect(!plan.isEmpty)
            let scans = Self.scans(plan)
            #expect(scans.isEmpty, "\(when): \(sql)\n\(plan.joined(separator: "\n"))")
        }
    }

    /// Returns the lines of scans that read a whole table, also through an index. Such a scan has
    /// no index condition and no LIMIT directly above.
    private static func scans(_ plan: [String]) -> [String] {
        plan.indices.filter { index in
            let line = plan[index]
            guard
                let found = line.firstMatch(
                    of: /Scan (?:Backward )?(?:using [a-z_]+ )?on ([a-z_]+)/
                )
            else { return false }
            guard tables.contains(String(found.output.1)) else { return false }
            let next = index + 1 < plan.count ? plan[index + 1] : ""
            let isFound = ["Index Cond", "TID Cond", "Recheck Cond"].contains { next.contains($0) }
            let isEnded = index > 0 && plan[index - 1].contains("Limit")
            let isBitmap = line.contains("Bitmap Index Scan")
            return line.contains("Seq Scan") || !(isFound || isEnded || isBitmap)
        }.map { plan[$0] }
    }

    private static let filling = """
        INSERT INTO users (id, login, display_name, created_at)
            SELECT 'u' || n, 'l' || n, 'd', 1 FROM generate_series(1, \(rows)) AS s (n);
        INSERT INTO names SELECT 'n' || n, 'r' || n, NULL FROM generate_series(1, \(rows)) AS s (n);
        INSERT INTO accounts
            SELECT 'u' || n, 'usd', 1, 0, 1, 1 FROM generate_series(1, \(rows)) AS s (n);
        INSERT INTO records SELECT 'r' || n, 'session', 'u' || n, 'PAID', 1, 1, NULL, '{}'
            FROM generate_series(1, \(rows)) AS s (n);
        INSERT INTO records SELECT 'b' || n, 'box', 'u' || n % 100, 'OPEN', 1, 1, NULL, '{}'
            FROM generate_series(1, \(rows)) AS s (n);
        INSERT INTO children SELECT 'b' || n % 100, n, 'r' || n
            FROM generate_series(1, \(rows)) AS s (n);
        INSERT INTO due SELECT 'u' || n % 1000, 'r' || n, 'session', n, NULL
            FROM generate_series(1, \(rows)) AS s (n);
        INSERT INTO due SELECT 'u' || n % 1000, 'b' || n, 'box', n, 1
            FROM generate_series(1, \(rows)) AS s (n);
        INSERT INTO transfers SELECT 'r' || n, 'paid', 'PAYMENT', 1, 'c', n, sha256('')
            FROM generate_series(1, \(rows)) AS s (n);
        INSERT INTO entries SELECT 'u' || n % 100, 'usd', n, 'r' || n, 'paid', 'PAYMENT', 1, 1, 1, 1
            FROM generate_series(1, \(rows)) AS s (n);
        INSERT INTO answers
            SELECT 'u' || n, 'pay', 'k' || n, sha256(''), '{}', NULL, 'r' || n, 'paid', 'request', 1
            FROM generate_series(1, \(rows)) AS s (n);
        INSERT INTO seals
            SELECT 'c', n, sha256(''), sha256('') FROM generate_series(1, \(rows)) AS s (n);
        INSERT INTO devices (id, user_id, name, scopes, created_at, family, current, generation,
                expires_at)
            SELECT 'd' || n, 'u' || n, '', '', 1, sha256(''), sha256(''), 0, 1
            FROM generate_series(1, \(rows)) AS s (n);
        INSERT INTO web_sessions
            SELECT sha256(CAST('w' || n AS bytea)), 'u' || n, '', '', 1, 1, n, NULL
            FROM generate_series(1, \(rows)) AS s (n);
        INSERT INTO endpoints VALUES ('a', '', NULL, 0, '', NULL), ('b', '', NULL, 0, '', NULL);
        INSERT INTO deliveries
            SELECT id, 'event-' || n, 'k', 'r', 'u', 1, NULL, '{}', 0, n % 5000, 9000000,
                CASE WHEN id = 'b' THEN 1 END, NULL
            FROM endpoints, generate_series(1, \(rows / 2)) AS s (n);
        """
}
