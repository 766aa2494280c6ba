import Ledger
import TestSupport
import Testing

/// Whoever can write to the database can insert what sums up to zero; no guard keeps him from it.
@Suite("Money that moved outside of every payment", .timeLimit(.minutes(hangLimit)))
struct TheftTests {
    struct Theft: Sendable {
        /// Whose wallet it comes from, and the next number of its entries.
        let from: (wallet: String, number: Int)
        /// Whose it goes to. The thief's own has no entry yet.
        let to: (wallet: String, number: Int)
        let kind: String
        /// What is said of it.
        let said: String
    }

    @Test(
        "is found by what it calls itself, where it came from and where it went",
        arguments: [
            Theft(
                from: ("wallet-1", 4),
                to: ("wallet-0", 4),
                kind: "DEV_OPENING",
                said: "from no account"
            ),
            Theft(
                from: ("wallet-1", 4),
                to: ("wallet-thief", 1),
                kind: "DEV_OPENING",
                said: "from no account"
            ),
            Theft(
                from: ("wallet-mint", 3),
                to: ("wallet-0", 4),
                kind: "DEV_OPENING",
                said: "from DEV_MINT"
            ),
            Theft(from: ("wallet-1", 4), to: ("wallet-0", 4), kind: "GIFT", said: "is GIFT"),
        ],
        StoreKind.allCases
    )
    func found(theft: Theft, store: StoreKind) async throws {
        let books = try await Planted.books(store)
        let (from, to) = (theft.from, theft.to)
        try books.execute(
            """
            INSERT INTO users (id, email, display_name, created_at)
                VALUES ('thief', 'thief@localhost', 'Thief', 1000);
            INSERT INTO wallets (id, user_id, currency, balance, entry_count)
                VALUES ('wallet-thief', 'thief', 'usd', 0, 0);
            INSERT INTO transfers (id, kind, amount, currency, created_at)
                VALUES ('theft', '\(theft.kind)', 5, 'usd', 1000);
            INSERT INTO entries (wallet_id, number, transfer_id, amount)
                VALUES ('\(from.wallet)', \(from.number), 'theft', -5),
                    ('\(to.wallet)', \(to.number), 'theft', 5);
            UPDATE wallets SET balance = balance - 5, entry_count = entry_count + 1
                WHERE id = '\(from.wallet)';
            UPDATE wallets SET balance = balance + 5, entry_count = entry_count + 1
                WHERE id = '\(to.wallet)';
            """
        )
        // All sums are right: only one rule sees it.
        let broken = try books.audit().findings.compactMap(\.broken)
        #expect(broken.count == 1)
        #expect(broken.first?.hasPrefix("transfer theft ") == true, "\(broken)")
        #expect(broken.first?.contains(theft.said) == true, "\(broken)")
    }
}
