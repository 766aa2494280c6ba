import Ledger
import Testing

/// Whoever can write to the database can insert what sums up to zero; no guard keeps him from it.
@Suite("Money that moved outside of every payment", .timeLimit(.minutes(1)))
struct TheftTests {
    @Test(
        "is found by what it calls itself, where it came from and where it went",
        arguments: [
            (from: "wallet-1", number: 4, kind: "DEV_OPENING", said: "from no account"),
            (from: "wallet-mint", number: 3, kind: "DEV_OPENING", said: "from DEV_MINT"),
            (from: "wallet-1", number: 4, kind: "GIFT", said: "is GIFT"),
        ],
        StoreKind.allCases
    )
    func found(
        theft: (from: String, number: Int, kind: String, said: String),
        store: StoreKind
    ) async throws {
        let books = try await Planted.books(store)
        try books.execute(
            """
            INSERT INTO transfers (id, kind, amount, currency, created_at)
                VALUES ('theft', '\(theft.kind)', 5, 'usd', 1000);
            INSERT INTO entries (wallet_id, number, transfer_id, amount)
                VALUES ('\(theft.from)', \(theft.number), 'theft', -5), ('wallet-0', 4, 'theft', 5);
            UPDATE wallets SET balance = balance - 5, entry_count = entry_count + 1
                WHERE id = '\(theft.from)';
            UPDATE wallets SET balance = balance + 5, entry_count = entry_count + 1
                WHERE id = 'wallet-0';
            """
        )
        // All sums are right: only one rule sees it.
        let broken = try books.audit().findings.compactMap(\.broken)
        #expect(broken.count == 1)
        #expect(broken.first?.hasPrefix("transfer theft ") == true, "\(broken)")
        #expect(broken.first?.contains(theft.said) == true, "\(broken)")
    }
}
