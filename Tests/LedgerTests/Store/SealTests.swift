import GotchuCore
import Logging
import SQLite
import TestSupport
import Testing

@testable import Ledger

/// The chain over transfers.
@Suite("Seals", .timeLimit(.minutes(2)))
struct SealTests {
    private let folder: TemporaryFolder
    private let path: String
    private let store: SQLiteStore
    private let sealer: Sealer

    /// Books with four transfers: two openings, a payment and a refund.
    init() async throws {
        folder = try TemporaryFolder()
        path = try await Planted.books(in: folder)
        store = try SQLiteStore(path: path)
        sealer = Sealer(
            store: store,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
    }

    private func finding(_ rule: String) throws -> Audit.Finding? {
        try Audit.run(path: path).findings.first { $0.rule.hasPrefix(rule) }
    }

    @Test("cover every transfer once, in order, and nothing is sealed twice")
    func order() async throws {
        #expect(try await store.sealHead() == .origin)
        while try await sealer.sealNewest() {}
        let head = try await store.sealHead()
        #expect(head.number == 4)
        while try await sealer.sealNewest() {}
        while try await !sealer.sealRound() {}
        #expect(try await store.sealHead() == head)
        #expect(try finding("every seal fits")?.count == 4)
        #expect(try Audit.run(path: path).isClean)
    }

    @Test("a transfer that was committed late, behind others, is found on the next round")
    func late() async throws {
        while try await sealer.sealNewest() {}
        try await open("late", transfer: "0-late")
        while try await !sealer.sealRound() {}
        #expect(try await store.sealHead().transfer.rawValue == "0-late")
        #expect(try Audit.run(path: path).isClean)
    }

    private func open(_ name: String, transfer: String) async throws {
        let command = Command(
            acceptedAt: Timestamp(milliseconds: 2_000),
            action: .openWallet(
                OpenWallet(
                    email: name,
                    displayName: name,
                    opening: Money(minorUnits: 1),
                    mint: Cast.mint,
                    transfer: TransferID(trusted: transfer)
                )
            )
        )
        _ = try await store.commit(touching: Footprint([command])) { apply([command], to: $0) }
    }

    @Test(
        "a change that the other rules do not see breaks the chain at its row",
        arguments: [
            (
                "UPDATE transfers SET created_at = created_at + 1 WHERE id = 'opening-1'",
                "opening-1"
            ),
            (
                """
                UPDATE transfers SET idempotency_key = 'another-key-0123' WHERE kind = 'PAYMENT';
                UPDATE sends SET idempotency_key = 'another-key-0123' WHERE transfer_id NOT NULL
                """, "transfer-6"
            ),
            (
                """
                UPDATE transfers SET amount = 4 WHERE id = 'transfer-6';
                UPDATE entries SET amount = 4 WHERE transfer_id = 'transfer-6' AND amount > 0;
                UPDATE entries SET amount = -4 WHERE transfer_id = 'transfer-6' AND amount < 0;
                UPDATE sessions SET amount = 4 WHERE id = 'session-0';
                UPDATE wallets SET balance = balance - 1 WHERE id = 'wallet-0';
                UPDATE wallets SET balance = balance + 1 WHERE id = 'wallet-1'
                """, "transfer-6"
            ),
        ]
    )
    func changed(sql: String, name: String) async throws {
        while try await sealer.sealNewest() {}
        try Planted.damage(path, sql)
        let broken = try Audit.run(path: path).findings.filter { $0.broken != nil }
        #expect(broken.map(\.rule) == [ChainCheck.rule])
        #expect(broken.first?.broken?.hasSuffix("does not fit transfer \(name)") == true)
    }

    @Test(
        "a seal that is gone, swapped or forged is noticed",
        arguments: [
            ("DELETE FROM seals WHERE number = 2", "seal 2 is missing"),
            ("UPDATE seals SET hash = zeroblob(32) WHERE number = 3", "seal 3 does not fit"),
            (
                """
                UPDATE seals SET number = 9 WHERE number = 1;
                UPDATE seals SET number = 1 WHERE number = 2;
                UPDATE seals SET number = 2 WHERE number = 9
                """, "seal 1 does not fit"
            ),
        ]
    )
    func forged(sql: String, complaint: String) async throws {
        while try await sealer.sealNewest() {}
        try Planted.damage(path, sql)
        #expect(try finding("every seal fits")?.broken?.hasPrefix(complaint) == true)
    }

    @Test("an old transfer without a seal is noticed")
    func gap() async throws {
        while try await sealer.sealNewest() {}
        try await open("late", transfer: "0-late")
        try Planted.damage(
            path,
            "UPDATE transfers SET created_at = created_at - 4000000 WHERE id = '0-late'"
        )
        #expect(
            try finding("every transfer that is behind")?.broken == "transfer 0-late has no seal"
        )
    }

    @Test("seals that do not continue the chain are refused")
    func fork() async throws {
        let found = try await store.unsealed(after: nil, limit: 10)
        let first = found.head.next(over: found.transfers[0])
        try await store.append([first])
        let error = await #expect(throws: LedgerError.self) { try await store.append([first]) }
        #expect(error?.code == .rejected)
    }

    @Test("a ledger seals by itself what is paid")
    func service() async throws {
        try await withLedger(on: store) { ledger in
            _ = try await ledger.user("new", cents: 5)
            try await eventually("all five transfers are sealed") {
                try await store.sealHead().number == 5 ? true : nil
            }
        }
    }
}
