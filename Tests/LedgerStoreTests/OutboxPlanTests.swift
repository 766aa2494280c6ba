import LedgerTestSupport
import Postgres
import PostgresTestSupport
import SQLite
import TestSupport
import Testing

@testable import LedgerStore
@testable import Outbox

/// The plans for the outbox's statements, whose tables may have a million rows.
@Suite("The outbox's plans")
struct OutboxPlanTests {
    /// The statements, with values that match as many rows as possible.
    private static func statements(
        _ dialect: Dialect
    ) -> [(name: String, sql: String, values: [String])] {
        [
            ("claim", OutboxQueries.claim(dialect), [now, now, "'a'", "16"]),
            ("delivered", OutboxQueries.delivered, ["'a'", "'event-7'", "0"]),
            ("failed", OutboxQueries.failed, [now, "'why'", "NULL", "'a'", "'event-7'", "0"]),
            ("bury", OutboxQueries.markDead(dialect), ["'why'", now, "'a'", slice]),
            ("remove", OutboxQueries.removeDeliveries(dialect), ["'a'", slice]),
            ("resend one", OutboxQueries.resendOne, [now, "'b'", "'event-7'"]),
            ("resend some", OutboxQueries.resendSome(dialect), [now, "'b'", slice]),
            ("due", OutboxQueries.due, [now]),
            ("disabled", OutboxQueries.disabledWithBacklog, []),
            ("remove end", OutboxQueries.removeEndpoint, ["'a'"]),
            ("address", OutboxQueries.address, ["'a'"]),
            ("kept", OutboxQueries.remainingEndpoints, []),
            ("pending", OutboxQueries.backlog(dead: false), ["'a'", "100"]),
            ("dead", OutboxQueries.backlog(dead: true), ["'b'", "100"]),
        ]
    }

    private static let now = "9000"
    private static let slice = "\(OutboxQueries.slice)"
    private static let rows = 20_000

    @Test("No statement scans all deliveries on SQLite, and changes use the primary key")
    func sqlite() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/books.db"
        _ = try SQLiteStore(path: path)
        let connection = try SQLite.Connection(path: path, mode: .readOnly)
        for (name, sql, values) in Self.statements(.sqlite) {
            let nulls = [SQLite.Value](repeating: .null, count: values.count)
            let plan = try connection.query("EXPLAIN QUERY PLAN " + sql, nulls) { try $0.text(3) }
            #expect(!plan.isEmpty, "\(name)")
            let scans = plan.filter { $0.hasPrefix("SCAN deliveries") }
            #expect(scans.isEmpty, "\(name): \(plan)")
            #expect(!plan.contains { $0.contains("TEMP B-TREE") }, "\(name): \(plan)")
            // The first step belongs to the statement, the other steps to its subqueries.
            if sql.hasPrefix("UPDATE deliveries") || sql.hasPrefix("DELETE") {
                #expect(plan[0].contains("USING PRIMARY KEY"), "\(name): \(plan)")
            }
        }
    }

    @Test("No statement on PostgreSQL reads more rows than one slice, even with full tables")
    func postgresql() async throws {
        let database = try await SampleLedger.database(.postgresql)
        let name = try #require(try database.texts("SELECT current_database()::text").first)
        let link = try PostgresCluster.shared().connect(name)
        try PostgreSQLSession.prepareForChanges(link.connection)
        // A server that starts with empty tables plans its statements once.
        for (number, statement) in Self.statements(.postgresql).enumerated() {
            try link.connection.execute("PREPARE s\(number) AS \(statement.sql)")
        }
        try expectFewRows(link)
        try link.connection.execute(Self.backlog)
        try expectFewRows(link)
        // After ANALYZE the statements are planned anew, as for a server that starts with full
        // tables.
        try link.connection.execute("ANALYZE endpoints, deliveries")
        try expectFewRows(link)
    }

    /// Creates many deliveries for each of three endpoints: due deliveries, dead deliveries, and
    /// deliveries for a gone endpoint.
    private static let backlog = """
        INSERT INTO endpoints
        SELECT id, 'https://shop.example', NULL, 0, '', gone
        FROM (VALUES ('a', NULL), ('b', NULL), ('c', 'HTTP 410.')) AS endpoint (id, gone);
        INSERT INTO deliveries
        SELECT id, 'event-' || number, 'session.cancelled', 'session-0', 'user-0', 0, NULL, '{}', 0,
            number % 5000, 9000000, CASE WHEN id = 'b' THEN 1 END, NULL
        FROM endpoints, generate_series(1, \(rows)) AS number
        """

    /// Runs each statement, checks the number of rows that it reads, and rolls it back.
    private func expectFewRows(_ link: PostgresCluster.Link) throws {
        for (number, statement) in Self.statements(.postgresql).enumerated() {
            let values = statement.values.joined(separator: ", ")
            try link.connection.execute("BEGIN")
            let plan = try link.connection.query(
                """
                EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF)
                EXECUTE s\(number)\(values.isEmpty ? "" : "(\(values))")
                """,
                read: { try $0.text(0) }
            )
            try link.connection.execute("ROLLBACK")
            let text = plan.joined(separator: "\n")
            let counts = text.matches(of: /(?:rows=|Removed by [A-Za-z ]+: )([0-9]+)/)
            #expect(!plan.isEmpty && !counts.isEmpty, "\(statement.name): \(text)")
            let most = counts.compactMap { Int($0.output.1) }.max() ?? 0
            #expect(most <= OutboxQueries.slice, "\(statement.name): \(text)")
            #expect(!text.contains("Seq Scan on deliveries"), "\(statement.name): \(text)")
        }
    }
}
