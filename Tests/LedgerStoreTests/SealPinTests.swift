import GotchuCore
import LedgerStore
import LedgerTestSupport
import TestSupport
import Testing

@testable import Ledger

/// Seals that are recorded outside the database.
@Suite("Pinned seals")
struct SealPinTests {
    /// The id of a chain that sorts after all other chains.
    private static let later = "ffffffffffffffffffff"

    @Test(
        "A pin reveals that the last seal was removed with its transfers, or replaced",
        arguments: StoreKind.single
    )
    func pinned(kind: StoreKind) async throws {
        let database = try await SampleLedger.database(kind)
        let head = try #require(try database.audit().heads.first)
        #expect(head.number == 3 && head.chain == SampleLedger.chain)
        try await database.open().commit(
            [Step(time: 2_000, action: .open(user: 2))],
            chain: Self.later
        )
        let pin = try #require(SealPin("\(head)"))
        #expect(pin == head)
        #expect(try database.audit(pins: [pin]).isClean)
        let newest = try #require(try database.audit().heads.first)
        #expect(newest.chain == Self.later && newest.number == 1)
        // The script restores the state before the last seal. This state is consistent.
        try database.damage(
            """
            DELETE FROM seals WHERE chain = '\(Self.later)';
            DELETE FROM transfers WHERE record = 'user-2';
            DELETE FROM entries WHERE record = 'user-2';
            DELETE FROM accounts WHERE owner = 'user-2';
            UPDATE accounts SET balance = balance + 10, entry_count = entry_count - 1,
                changed_at = 1000 WHERE owner = 'DEV_MINT';
            DELETE FROM names WHERE target = 'user-2';
            DELETE FROM users WHERE id = 'user-2'
            """
        )
        #expect(try database.audit().isClean)
        #expect(try database.audit(pins: [pin]).isClean)
        #expect(
            try database.audit(pins: [newest]).findings.compactMap(\.violation)
                == ["seal 1 of chain \(Self.later) is missing"]
        )
        let other = try #require(SealPin("\(pin.chain):2:\(pin.hash)"))
        #expect(
            try database.audit(pins: [other]).findings.compactMap(\.violation)
                == ["seal 2 of chain \(pin.chain) has another hash"]
        )
    }

    @Test(
        "The last seal of each chain that no other chain follows is a head, even if clocks differ",
        arguments: StoreKind.single
    )
    func heads(kind: StoreKind) async throws {
        let database = try kind.makeDatabase()
        let store = try database.open()
        var opened = 0
        func open(_ chain: String, after tail: Seal? = nil) async throws -> Seal {
            let command = OpenAccount(
                login: "user\(opened)",
                displayName: "user",
                opening: Money(minorUnits: 1)
            )
            opened += 1
            let pending = Pending(command, at: .now) { _ in }
            return try #require(
                try await store.commit(Batch([pending], tail: tail, chain: chain)).seal
            )
        }
        let first = try await open("0b")
        let second = try await open("0c")
        #expect(second.previous == first.hash)
        #expect(try database.audit().heads == [SealPin(second)])
        // The server of chain 0b continues although chain 0c has begun. Two more servers have
        // clocks that are behind, so their chains sort first.
        let wentOn = try await open("0b", after: first)
        let early = try await open("0a")
        let earlier = try await open("00")
        let heads = [earlier, early, wentOn].map { SealPin($0) }
        #expect(try database.audit().heads == heads)
        for head in heads {
            let other = try #require(SealPin("\(head.chain):9:\(head.hash)"))
            for pins in [[head, other], [other, head]] {
                #expect(
                    try database.audit(pins: pins).findings.compactMap(\.violation)
                        == ["seal 9 of chain \(head.chain) is missing"]
                )
            }
        }
        let audit = try database.audit(pins: heads + [SealPin(first), SealPin(second)])
        #expect(audit.isClean && audit.findings.last?.count == 5)
    }
}
