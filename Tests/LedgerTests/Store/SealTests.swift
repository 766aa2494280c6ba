import GotchuCore
import LedgerTestSupport
import Logging
import TestSupport
import Testing

@testable import Ledger

/// The chain over transfers.
@Suite("Seals", .timeLimit(.minutes(2)))
struct SealTests {
    @Test(
        "cover every transfer once, in order, and nothing is sealed twice",
        arguments: StoreKind.allCases
    )
    func order(kind: StoreKind) async throws {
        let chain = try await Chain(kind)
        #expect(try await chain.store.sealHead() == .origin)
        while try await chain.sealer.sealNewest() {}
        let head = try await chain.store.sealHead()
        #expect(head.number == 4)
        while try await chain.sealer.sealNewest() {}
        while try await !chain.sealer.sealRound() {}
        #expect(try await chain.store.sealHead() == head)
        #expect(try chain.finding("every seal fits")?.count == 4)
        #expect(try chain.books.audit().isClean)
    }

    @Test(
        "a transfer that was committed late, behind others, is found on the next round",
        arguments: StoreKind.allCases
    )
    func late(kind: StoreKind) async throws {
        let chain = try await Chain(kind)
        while try await chain.sealer.sealNewest() {}
        try await chain.open("late", transfer: "0-late")
        while try await !chain.sealer.sealRound() {}
        #expect(try await chain.store.sealHead().transfer.rawValue == "0-late")
        #expect(try chain.books.audit().isClean)
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
                UPDATE sends SET idempotency_key = 'another-key-0123' WHERE transfer_id IS NOT NULL
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
        ],
        StoreKind.allCases
    )
    func changed(damage: (sql: String, name: String), kind: StoreKind) async throws {
        let chain = try await Chain(kind)
        while try await chain.sealer.sealNewest() {}
        try chain.books.damage(damage.sql)
        let broken = try chain.books.audit().findings.filter { $0.broken != nil }
        #expect(broken.map(\.rule) == [ChainCheck.rule])
        #expect(broken.first?.broken?.hasSuffix("does not fit transfer \(damage.name)") == true)
    }

    @Test(
        "a seal that is gone, swapped or forged is noticed",
        arguments: [
            ("DELETE FROM seals WHERE number = 2", "seal 2 is missing"),
            (
                """
                UPDATE seals SET hash = (SELECT hash FROM seals WHERE number = 2) WHERE number = 3
                """, "seal 3 does not fit"
            ),
            (
                """
                UPDATE seals SET number = 9 WHERE number = 1;
                UPDATE seals SET number = 1 WHERE number = 2;
                UPDATE seals SET number = 2 WHERE number = 9
                """, "seal 1 does not fit"
            ),
        ],
        StoreKind.allCases
    )
    func forged(damage: (sql: String, complaint: String), kind: StoreKind) async throws {
        let chain = try await Chain(kind)
        while try await chain.sealer.sealNewest() {}
        try chain.books.damage(damage.sql)
        #expect(try chain.finding("every seal fits")?.broken?.hasPrefix(damage.complaint) == true)
    }

    @Test("an old transfer without a seal is noticed", arguments: StoreKind.allCases)
    func gap(kind: StoreKind) async throws {
        let chain = try await Chain(kind)
        while try await chain.sealer.sealNewest() {}
        try await chain.open("late", transfer: "0-late")
        try chain.books.damage(
            "UPDATE transfers SET created_at = created_at - 4000000 WHERE id = '0-late'"
        )
        #expect(
            try chain.finding("every transfer that is behind")?.broken
                == "transfer 0-late has no seal"
        )
    }

    @Test("seals that do not continue the chain are refused", arguments: StoreKind.allCases)
    func fork(kind: StoreKind) async throws {
        let chain = try await Chain(kind)
        let found = try await chain.store.unsealed(after: nil, limit: 10)
        let first = found.head.next(over: found.transfers[0])
        try await chain.store.append([first])
        let error = await #expect(throws: LedgerError.self) {
            try await chain.store.append([first])
        }
        #expect(error?.code == .rejected)
    }

    @Test("a ledger seals by itself what is paid", arguments: StoreKind.allCases)
    func service(kind: StoreKind) async throws {
        let chain = try await Chain(kind)
        try await withLedger(on: chain.store) { ledger in
            _ = try await ledger.user("new", cents: 5)
            try await eventually("all five transfers are sealed") {
                try await chain.store.sealHead().number == 5 ? true : nil
            }
        }
    }
}

/// Books of one kind with four transfers: two openings, a payment and a refund.
private struct Chain: Sendable {
    let books: TestBooks
    let store: any TestBooks.Store
    let sealer: Sealer

    init(_ kind: StoreKind) async throws {
        books = try await Planted.books(kind)
        store = try books.open()
        sealer = Sealer(store: store, logger: TestBooks.logger)
    }

    func finding(_ rule: String) throws -> Audit.Finding? {
        try books.audit().findings.first { $0.rule.hasPrefix(rule) }
    }

    func open(_ name: String, transfer: String) async throws {
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
}
