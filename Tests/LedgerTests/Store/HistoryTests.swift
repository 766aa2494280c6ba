import GotchuCore
import Postgres
import PostgresTestSupport
import SQLite
import TestSupport
import Testing

@testable import Ledger

/// Reading a long history.
@Suite("A wallet's history", .timeLimit(.minutes(hangLimit)))
struct HistoryTests {
    private static let transfers: Int64 = 500_000

    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    /// A million entries, two a transfer, made by the database itself.
    private func longBooks() throws -> String {
        let path = folder.file("long.db")
        _ = try SQLiteStore(path: path)
        let connection = try SQLite.Connection(path: path, mode: .readWrite)
        try connection.execute(
            """
            PRAGMA synchronous = OFF;
            BEGIN;
            INSERT INTO users VALUES ('user-0', 'a@shop.example', 'a', 1);
            INSERT INTO wallets VALUES ('wallet-0', 'user-0', NULL, 'usd', \(Self.transfers),
                \(Self.transfers));
            INSERT INTO wallets VALUES ('wallet-mint', NULL, 'DEV_MINT', 'usd',
                -\(Self.transfers), \(Self.transfers));
            CREATE TEMP TABLE numbers AS WITH RECURSIVE numbers (n) AS (
                SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < \(Self.transfers)
            ) SELECT n FROM numbers;
            INSERT INTO transfers (id, kind, amount, currency, created_at)
                SELECT printf('transfer-%08d', n), 'DEV_OPENING', 1, 'usd', n FROM numbers;
            INSERT INTO entries SELECT 'wallet-0', n, printf('transfer-%08d', n), 1 FROM numbers;
            INSERT INTO entries
                SELECT 'wallet-mint', n, printf('transfer-%08d', n), -1 FROM numbers;
            COMMIT;
            """
        )
        return path
    }

    @Test("of a million entries is read by its index, page by page")
    func million() async throws {
        let path = try longBooks()
        let store = try SQLiteStore(path: path)
        let user = UserID(trusted: "user-0")
        for skipped in [0, Self.transfers / 2, Self.transfers - 3] {
            let range = WalletHistory.Range(.newest(skipping: skipped), limit: 3)
            let page = try await store.history(of: user, in: .usd, range)
            let first = Self.transfers - skipped
            #expect(page?.entries.map(\.number) == [first, first - 1, first - 2])
            #expect(page?.entries.first?.createdAt.milliseconds == first)
        }
        let plan = try SQLite.Connection(path: path, mode: .readOnly).query(
            "EXPLAIN QUERY PLAN " + SQLiteReader.historyQuery,
            [.text("wallet-0"), .integer(1), .integer(25)],
            read: { try $0.text(3) }
        )
        #expect(plan.contains("SEARCH entries USING PRIMARY KEY (wallet_id=? AND number<?)"))
        // Neither a table read from end to end nor anything sorted.
        #expect(plan.allSatisfy { $0.hasPrefix("SEARCH ") }, "\(plan)")
    }

    /// A million entries of one wallet, ten a transfer, past the checks of references. The books
    /// are not right, but as long as any.
    private static let longScript = """
        SET session_replication_role = replica;
        INSERT INTO users VALUES ('user-0', 'a@shop.example', 'a', 1);
        INSERT INTO wallets VALUES ('wallet-0', 'user-0', NULL, 'usd', 1000000, 1000000);
        INSERT INTO transfers (id, kind, amount, currency, created_at)
            SELECT 'transfer-' || lpad(n::text, 8, '0'), 'DEV_OPENING', 1, 'usd', n
            FROM generate_series(1, 100000) AS numbers (n);
        INSERT INTO entries
            SELECT 'wallet-0', n, 'transfer-' || lpad(((n + 9) / 10)::text, 8, '0'), 1
            FROM generate_series(1, 1000000) AS numbers (n);
        """

    @Test("of a million entries on PostgreSQL is read by its index, whatever it knows of the table")
    func millionOnPostgreSQL() async throws {
        let cluster = try PostgresCluster.shared()
        let name = try cluster.makeDatabase()
        let link = try cluster.connect(name)
        try await Self.check(cluster.url(name), link)
        // It is large, and in memory.
        let admin = try cluster.connect("postgres")
        try admin.connection.execute("DROP DATABASE \(name) WITH (FORCE)")
    }

    private static func check(_ url: String, _ link: PostgresCluster.Link) async throws {
        let store = try PostgreSQLStore(url: url, logger: TestBooks.logger)
        try link.connection.execute(longScript, within: .seconds(120))
        for skipped: Int64 in [0, 500_000, 999_997] {
            let range = WalletHistory.Range(.newest(skipping: skipped), limit: 3)
            let page = try await store.history(of: UserID(trusted: "user-0"), in: .usd, range)
            let first = 1_000_000 - skipped
            #expect(page?.entries.map(\.number) == [first, first - 1, first - 2])
        }
        try PostgreSQLSession.prepare(link.connection)
        try link.connection.execute(
            "PREPARE history (text, text, bigint, bigint, bigint) AS "
                + PostgreSQLReader.historyQuery
        )
        // Without statistics and with them, planned for these values and for any.
        for preparation in ["SELECT 1", "ANALYZE"] {
            try link.connection.execute(preparation, within: .seconds(60))
            for mode in ["force_custom_plan", "force_generic_plan"] {
                try link.connection.execute("SET plan_cache_mode = \(mode)")
                for start in ["NULL, 500000", "3, NULL"] {
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
                    for slow in ["Seq Scan", "Sort", "Hash", "Rows Removed"] {
                        #expect(!plan.contains(slow), "\(mode), \(preparation): \(plan)")
                    }
                }
            }
        }
    }
}
