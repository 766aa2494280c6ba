import GotchuCore
import Ledger
import Postgres
import PostgresTestSupport
import SQLite
import TestSupport
import Testing

@testable import LedgerStore

/// Reading a long history.
@Suite("An account's history")
struct HistoryTests {
    private static let transfers: Int64 = 500_000

    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    /// Creates a database with a million entries, half of them of one user. SQL generates the rows.
    private func longBooks() throws -> String {
        let path = folder.file("long.db")
        _ = try SQLiteStore(path: path)
        let connection = try SQLite.Connection(path: path, mode: .readWrite)
        try connection.execute(
            """
            PRAGMA synchronous = OFF;
            BEGIN;
            INSERT INTO users VALUES ('user-0', 'a@shop.example', 'a', 1, NULL, NULL, NULL);
            INSERT INTO accounts VALUES ('user-0', 'usd', \(Self.transfers), 0,
                \(Self.transfers), \(Self.transfers));
            INSERT INTO accounts VALUES ('DEV_MINT', 'usd', -\(Self.transfers), 0,
                \(Self.transfers), \(Self.transfers));
            CREATE TEMP TABLE numbers AS WITH RECURSIVE numbers (n) AS (
                SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < \(Self.transfers)
            ) SELECT n FROM numbers;
            INSERT INTO records SELECT printf('record-%08d', n), 'session', 'user-0', 'PAID', 1, n,
                NULL, '{}' FROM numbers;
            INSERT INTO entries SELECT 'user-0', 'usd', n, printf('record-%08d', n), 'paid',
                'PAYMENT', n, 1, n, 0 FROM numbers;
            INSERT INTO entries SELECT 'DEV_MINT', 'usd', n, printf('record-%08d', n), 'paid',
                'PAYMENT', n, -1, -n, 0 FROM numbers;
            COMMIT;
            """
        )
        return path
    }

    @Test("A history of 500,000 entries on SQLite is read by its index, page by page")
    func million() async throws {
        let path = try longBooks()
        let store = try SQLiteStore(path: path)
        let key = Account.Key(.user(UserID(trusted: "user-0")), .usd)
        for skipped in [0, Self.transfers / 2, Self.transfers - 3] {
            let range = HistoryRange(.newest(skipping: skipped), limit: 3)
            let page = try await store.history(of: key, range)
            let first = Self.transfers - skipped
            #expect(page?.entries.map(\.entry.number) == [first, first - 1, first - 2])
            #expect(page?.entries.first?.entry.at.milliseconds == first)
            #expect(page?.entries.allSatisfy { $0.record?.id == $0.entry.transfer.record } == true)
        }
        let plan = try SQLite.Connection(path: path, mode: .readOnly).query(
            "EXPLAIN QUERY PLAN " + Reads.History.sql,
            [.text("user-0"), .text("usd"), .integer(1), .integer(0), .integer(25)],
            read: { try $0.text(3) }
        )
        #expect(
            plan.contains("SEARCH entries USING PRIMARY KEY (owner=? AND currency=? AND number<?)")
        )
        // The plan scans only the page that the index has found, and no table.
        #expect(plan.filter { $0.hasPrefix("SCAN ") } == ["SCAN entries LEFT-JOIN"], "\(plan)")
        #expect(plan.contains("MATERIALIZE entries"), "\(plan)")
    }

    /// Creates a million entries of one account, ten per record. The ledger is long, but invalid.
    private static let longScript = """
        INSERT INTO users VALUES ('user-0', 'a@shop.example', 'a', 1, NULL, NULL, NULL);
        INSERT INTO accounts VALUES ('user-0', 'usd', 1000000, 0, 1000000, 1);
        INSERT INTO records
            SELECT 'record-' || lpad(n::text, 8, '0'), 'session', 'user-0', 'PAID', 1, 1, NULL, '{}'
            FROM generate_series(1, 100000) AS numbers (n);
        INSERT INTO entries
            SELECT 'user-0', 'usd', n, 'record-' || lpad(((n + 9) / 10)::text, 8, '0'), 'paid',
                'PAYMENT', n, 1, n, 0
            FROM generate_series(1, 1000000) AS numbers (n);
        """

    @Test("A history of a million entries on PostgreSQL is read by its index in every plan")
    func millionOnPostgreSQL() async throws {
        let cluster = try PostgresCluster.shared()
        let name = try cluster.makeDatabase()
        let link = try cluster.connect(name)
        try await Self.check(cluster.url(name), link)
        // The database is dropped, because it is large and its disk is in memory.
        let admin = try cluster.connect("postgres")
        try admin.connection.execute("DROP DATABASE \(name) WITH (FORCE)")
    }

    private static func check(_ url: String, _ link: PostgresCluster.Link) async throws {
        let store = try PostgreSQLStore(url: url, logger: TestDatabase.logger)
        try link.connection.execute(longScript, within: .seconds(120))
        for skipped: Int64 in [0, 500_000, 999_997] {
            let range = HistoryRange(.newest(skipping: skipped), limit: 3)
            let key = Account.Key(.user(UserID(trusted: "user-0")), .usd)
            let page = try await store.history(of: key, range)
            let first = 1_000_000 - skipped
            #expect(page?.entries.map(\.entry.number) == [first, first - 1, first - 2])
        }
        try PostgreSQLSession.prepare(link.connection)
        try link.connection.execute(
            "PREPARE history (text, text, bigint, bigint, bigint) AS "
                + Reads.History.sql
        )
        // The plans are made without and with statistics, for the given values and for any values.
        for preparation in ["SELECT 1", "ANALYZE"] {
            try link.connection.execute(preparation, within: .seconds(60))
            for mode in ["force_custom_plan", "force_generic_plan"] {
                try link.connection.execute("SET plan_cache_mode = \(mode)")
                for start in ["NULL, 500000", "3, 0"] {
                    let plan = try link.connection.query(
                        """
                        EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF)
                        EXECUTE history ('user-0', 'usd', \(start), 25)
                        """,
                        read: { try $0.text(0) }
                    ).joined(separator: "\n")
                    let rows = start.hasPrefix("3") ? 3 : 25
                    #expect(
                        plan.contains(
                            "Index Scan Backward using entries_pkey on entries "
                                + "(actual rows=\(rows) loops=1)"
                        ),
                        "\(plan)"
                    )
                    // The plan reads no rows beyond the page.
                    for slow in ["Seq Scan", "Hash", "Rows Removed"] {
                        #expect(!plan.contains(slow), "\(mode), \(preparation): \(plan)")
                    }
                    let counts = plan.matches(of: /rows=([0-9]+)/).compactMap { Int($0.output.1) }
                    #expect(counts.max() == rows, "\(mode), \(preparation): \(plan)")
                }
            }
        }
    }
}
