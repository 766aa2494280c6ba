import GotchuCore
import SQLite
import TestSupport
import Testing

@testable import Ledger

/// Reading a long history.
@Suite("A wallet's history", .timeLimit(.minutes(5)))
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
        let connection = try Connection(path: path, mode: .readWrite)
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
        let plan = try Connection(path: path, mode: .readOnly).query(
            "EXPLAIN QUERY PLAN " + SQLiteReader.historyQuery,
            [.text("wallet-0"), .integer(1), .integer(25)],
            read: { try $0.text(3) }
        )
        #expect(plan.contains("SEARCH entries USING PRIMARY KEY (wallet_id=? AND number<?)"))
        // Neither a table read from end to end nor anything sorted.
        #expect(plan.allSatisfy { $0.hasPrefix("SEARCH ") }, "\(plan)")
    }
}
