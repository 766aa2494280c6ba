import GotchuCore
import LedgerTestSupport
import Logging
import TestSupport
import Testing

@testable import Ledger

/// The chain over transfers.
@Suite("Seals", .timeLimit(.minutes(hangLimit)))
struct SealTests {
    @Test(
        "cover every transfer once, in order, and nothing is sealed twice",
        arguments: StoreKind.allCases
    )
    func order(kind: StoreKind) async throws {
        let chain = try await Chain(kind)
        #expect(try await chain.store.sealHead() == .origin)
        try await chain.seal()
        let head = try await chain.store.sealHead()
        #expect(head.number == 4)
        try await chain.seal()
        try await chain.seal(.everything)
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
        try await chain.seal()
        try await chain.open("late", transfer: "0-late")
        try await chain.seal(.everything)
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
                UPDATE wallets SET balance = balance + 1 WHERE id = 'wallet-1';
                UPDATE sends SET new_balance = new_balance + 1 WHERE transfer_id = 'transfer-6';
                UPDATE refunds SET new_balance = new_balance - 1 WHERE transfer_id = 'refund-8'
                """, "transfer-6"
            ),
        ],
        StoreKind.allCases
    )
    func changed(damage: (sql: String, name: String), kind: StoreKind) async throws {
        let chain = try await Chain(kind)
        try await chain.seal()
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
        try await chain.seal()
        try chain.books.damage(damage.sql)
        #expect(try chain.finding("every seal fits")?.broken?.hasPrefix(damage.complaint) == true)
    }

    @Test("a seal of a transfer that is not there is named", arguments: StoreKind.allCases)
    func lost(kind: StoreKind) async throws {
        let chain = try await Chain(kind)
        try await chain.seal()
        try chain.books.damage("UPDATE seals SET transfer_id = 'none' WHERE number = 2")
        #expect(
            try chain.finding("every reference")?.broken
                == "table seals, row 2: transfer_id none is missing in transfers"
        )
        #expect(try chain.finding("every seal fits")?.broken == "seal 2 is missing before 3")
    }

    @Test("an old transfer without a seal is noticed", arguments: StoreKind.allCases)
    func gap(kind: StoreKind) async throws {
        let chain = try await Chain(kind)
        try await chain.seal()
        try await chain.open("late", transfer: "0-late")
        try chain.books.damage(
            "UPDATE transfers SET created_at = created_at - 90000000 WHERE id = '0-late'"
        )
        #expect(
            try chain.finding("every transfer a day behind")?.broken
                == "transfer 0-late has no seal"
        )
    }

    @Test("seals that do not continue the chain are refused", arguments: StoreKind.allCases)
    func fork(kind: StoreKind) async throws {
        let chain = try await Chain(kind)
        let found = try await chain.store.unsealed(after: nil, upTo: nil, Bite())
        let first = found.head.next(over: found.transfers[0])
        try await chain.store.append([first])
        let error = await #expect(throws: LedgerError.self) {
            try await chain.store.append([first])
        }
        #expect(error?.code == .rejected)
    }

    @Test(
        "what servers an hour behind have made is sealed too, a backlog bite by bite",
        arguments: StoreKind.allCases
    )
    func clocks(kind: StoreKind) async throws {
        let chain = try await Chain(kind, size: Bite(stretch: 64, seals: 16), isEmpty: true)
        let now = Timestamp(milliseconds: 1_700_000_000_000)
        let late = now.advanced(by: .seconds(-3_600))
        try await chain.openMany(150, "ahead", at: now)
        // Without time a bite of each walk; with time all of it at once.
        await chain.sealer.work(within: .zero)
        #expect(try await chain.store.sealHead().number == 32)
        await chain.sealer.work(within: .seconds(60))
        #expect(try await chain.store.sealHead().number == 150)
        try await chain.openMany(100, "behind", at: late)
        // Both of them go on, and payments of both are sealed.
        try await chain.openMany(1, "both", at: now.advanced(by: .seconds(1)))
        #expect(try chain.books.audit().isClean)
        // The walks take turns, and each must first come to its end to begin anew.
        for _ in 0..<24 { await chain.sealer.work(within: .seconds(60)) }
        #expect(try await chain.store.sealHead().number == 251)
        #expect(try chain.books.audit().isClean)
        // A server that starts now finds what is late as well: its walk begins behind the newest.
        try await chain.openMany(3, "later", at: late.advanced(by: .seconds(1)))
        let other = Sealer(store: chain.store, logger: TestBooks.logger)
        for _ in 0..<2 { await other.work(within: .seconds(60)) }
        #expect(try await chain.store.sealHead().number == 254)
    }

    @Test(
        "what is committed behind what is sealed is found at once for five seconds, by its number",
        arguments: StoreKind.allCases
    )
    func settling(kind: StoreKind) async throws {
        let chain = try await Chain(kind, isEmpty: true)
        let store = FaultyStore(chain.store)
        let size = Bite(stretch: 64, seals: 16)
        let sealer = Sealer(store: store, logger: TestBooks.logger, size: size)
        let now = Timestamp(milliseconds: 1_700_000_000_000)
        let before = now.advanced(by: .seconds(-1))
        try await chain.openMany(40, "first", at: now)
        try await chain.openMany(1, "beginning", at: before.advanced(by: .seconds(-1)))
        while try await sealer.look(.newest) != .end {}
        #expect(try await chain.store.sealHead().number == 41)
        try await chain.openMany(20, "late", at: before)
        #expect(try await sealer.look(.newest) == .end)
        #expect(try await chain.store.sealHead().number == 41)
        try await sealer.lookAgain()
        #expect(try await chain.store.sealHead().number == 61)
        // What is as it was is only counted, and what was late is known now.
        let looks = store.looks
        try await sealer.lookAgain()
        #expect(store.looks == looks)
        // What comes later still is left to the longer walks.
        try await chain.openMany(1, "next", at: now.advanced(by: .seconds(6)))
        #expect(try await sealer.look(.newest) == .end)
        try await chain.openMany(1, "too late", at: before)
        try await sealer.lookAgain()
        #expect(try await chain.store.sealHead().number == 62)
        while try await sealer.look(.day) != .end {}
        #expect(try await chain.store.sealHead().number == 63)
        #expect(try chain.books.audit().isClean)
    }

    @Test(
        "seals that were lost to a replica without them are made anew",
        arguments: StoreKind.allCases
    )
    func shorter(kind: StoreKind) async throws {
        let chain = try await Chain(kind)
        try await chain.seal()
        let head = try await chain.store.sealHead()
        try chain.books.damage("DELETE FROM seals WHERE number > 2")
        await #expect(throws: LedgerError.self) { try await chain.seal() }
        try await chain.seal()
        #expect(try await chain.store.sealHead() == head)
        #expect(try chain.books.audit().isClean)
    }

    @Test("of two servers the one that seals takes the longer walks", arguments: StoreKind.allCases)
    func together(kind: StoreKind) async throws {
        let chain = try await Chain(kind, isEmpty: true)
        let store = FaultyStore(chain.store)
        let other = Sealer(store: store, logger: TestBooks.logger)
        func looksOfOther() async -> Int {
            let before = store.looks
            await other.work(within: .seconds(60))
            return store.looks - before
        }
        let now = Timestamp.now
        try await chain.openMany(1, "first", at: now)
        _ = await looksOfOther()
        let usual = await looksOfOther()
        try await chain.openMany(1, "second", at: now.advanced(by: .milliseconds(1)))
        await chain.sealer.work(within: .seconds(60))
        #expect(await looksOfOther() == usual - 1)
        // Nobody seals any more: it does not rely on anybody who may be gone.
        #expect(await looksOfOther() == usual)
        try await chain.openMany(1, "third", at: now.advanced(by: .milliseconds(2)))
        #expect(await looksOfOther() >= usual)
        #expect(try await chain.store.sealHead().number == 3)
    }

    @Test(
        "the chain holds a head that was written down; a chain that was forged anew does not",
        arguments: StoreKind.allCases
    )
    func pinned(kind: StoreKind) async throws {
        let chain = try await Chain(kind)
        #expect(try chain.books.audit().head == nil)
        try await chain.seal()
        let head = try #require(try chain.books.audit().head)
        try await chain.open("later", transfer: "x-later")
        try await chain.seal()
        let pin = try #require(SealPin("\(head)"))
        #expect(pin == head)
        #expect(try chain.books.audit(pin: pin).isClean)
        #expect(try chain.books.audit().head?.number == 5)
        try chain.books.damage(
            "UPDATE transfers SET created_at = created_at + 1 WHERE id = 'opening-1'"
        )
        try chain.books.damage("DELETE FROM seals")
        let forger = Sealer(store: chain.store, logger: TestBooks.logger)
        await forger.work(within: .seconds(60))
        #expect(try chain.books.audit().isClean)
        let broken = try chain.books.audit(pin: pin).findings.compactMap(\.broken)
        #expect(broken == ["seal 4 is another one"])
        let ahead = try #require(SealPin("9:\(pin.hash)"))
        #expect(
            try chain.books.audit(pin: ahead).findings.compactMap(\.broken)
                == ["seal 9 is missing"]
        )
        for bad in ["", "4", "4:", ":\(pin.hash)", "0:\(pin.hash)", "4:\(pin.hash)0", "4:zz"] {
            #expect(SealPin(bad) == nil)
        }
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

    init(_ kind: StoreKind, size: Bite = Bite(), isEmpty: Bool = false) async throws {
        books = isEmpty ? try kind.makeBooks() : try await Planted.books(kind)
        store = try books.open()
        sealer = Sealer(store: store, logger: TestBooks.logger, size: size)
    }

    /// Goes to the end of a walk.
    func seal(_ walk: Sealer.Walk = .newest) async throws {
        while try await sealer.look(walk) != .end {}
    }

    /// Openings by a server whose clock shows `time`.
    func openMany(_ count: Int, _ name: String, at time: Timestamp) async throws {
        let commands = (0..<count).map { number in
            Command(
                acceptedAt: time,
                action: .openWallet(
                    OpenWallet(
                        email: "\(name)-\(number)",
                        displayName: name,
                        opening: Money(minorUnits: 1),
                        mint: Cast.mint,
                        transfer: .make(at: time)
                    )
                )
            )
        }
        _ = try await store.commit(touching: Footprint(commands)) { apply(commands, to: $0) }
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
