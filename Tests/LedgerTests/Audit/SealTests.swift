import GotchuCore
import LedgerTestSupport
import Testing

@testable import Ledger

/// The hashes of batches. Each contains the hash of the batch before.
@Suite("Seals")
struct SealTests {
    private static func key(_ owner: Account.Owner, _ currency: Currency = .usd) -> Account.Key {
        Account.Key(owner, currency)
    }

    private static func entry(
        _ account: Account.Key = Cast.account(0),
        number: Int64 = 3,
        at: Int64 = 2_000,
        amount: Int64 = -5,
        balance: Int64 = 7,
        earned: Int64 = 1
    ) -> Entry {
        Entry(
            account: account,
            number: number,
            transfer: Transfer.Key(Post.record, "paid"),
            kind: "PAYMENT",
            at: Timestamp(milliseconds: at),
            amount: amount,
            balance: balance,
            earned: earned
        )
    }

    private static let other = entry(Cast.account(1), number: 1, amount: 5, balance: 5, earned: 5)

    private static func transfer(
        record: String = "record-1",
        step: String = "paid",
        kind: String = "PAYMENT",
        at: Int64 = 2_000,
        _ entries: [Entry] = [entry(), other]
    ) -> Transfer {
        Transfer(
            key: Transfer.Key(RecordID(trusted: record), step),
            kind: kind,
            at: Timestamp(milliseconds: at),
            entries: entries
        )
    }

    /// Copies of the transfer, each with one change.
    private static let variants: [Transfer] = [
        transfer(record: "record-2"), transfer(step: "paid/1"), transfer(kind: "REFUND"),
        transfer(at: 2_001), transfer([entry()]), transfer([other]), transfer([]),
        transfer([entry(Cast.account(2)), other]),
        transfer([entry(key(.user(Cast.users[0]), .eur)), other]),
        transfer([entry(key(.pot(RecordID(trusted: "user-0")))), other]),
        transfer([entry(Cast.mint), other]),
        transfer([entry(number: 4), other]), transfer([entry(at: 2_001), other]),
        transfer([entry(amount: -6), other]), transfer([entry(amount: 5), other]),
        transfer([entry(balance: 8), other]), transfer([entry(earned: 0), other]),
        transfer([entry(), other, entry(Cast.account(2))]),
    ]

    @Test("A seal depends on every field of a transfer and of its entries")
    func everyField() {
        let start = Seal.beginning(of: "chain", after: .origin)
        let all = [Self.transfer()] + Self.variants
        #expect(Set(all.map(\.hash)).count == all.count)
        #expect(Set(all.map { start.next(over: [$0]).hash }).count == all.count)
        #expect(all.allSatisfy { $0.hash.count == 32 })
    }

    @Test("A seal depends on its chain, its number and the seal before it")
    func everySeal() {
        let zeros = Seal.origin.hash
        let transfers = [Self.transfer()]
        let ones = [UInt8](repeating: 1, count: 32)
        let seals = [
            Seal(chain: "a", number: 0, previous: zeros, hash: zeros),
            Seal(chain: "b", number: 0, previous: zeros, hash: zeros),
            Seal(chain: "a", number: 1, previous: zeros, hash: zeros),
            Seal(chain: "a", number: 0, previous: zeros, hash: ones),
        ]
        #expect(Set(seals.map { $0.next(over: transfers).hash }).count == seals.count)
    }

    @Test("A seal does not depend on the order of a batch's transfers and of their entries")
    func order() {
        let start = Seal.beginning(of: "chain", after: .origin)
        let transfers = [
            Self.transfer(), Self.transfer(step: "refund/1"), Self.transfer(record: "record-0"),
            Self.transfer(step: "refund/2", [Self.other, Self.entry()]),
        ]
        let seal = start.next(over: transfers)
        #expect(start.next(over: transfers.reversed()) == seal)
        #expect(start.next(over: [transfers[2], transfers[3], transfers[0], transfers[1]]) == seal)
        #expect(start.next(over: Array(transfers.dropLast())) != seal)
        #expect(Self.transfer([Self.other, Self.entry()]).hash == Self.transfer().hash)
        let sorted = [transfers[2], transfers[0], transfers[1], transfers[3]]
        #expect(start.next(overHashes: sorted.map(\.hash)) == seal)
    }

    @Test("The seals of a chain are numbered without a gap, and each contains the previous hash")
    func chain() {
        var seal = Seal.beginning(of: "chain", after: .origin)
        for number in 1...5 as ClosedRange<Int64> {
            let next = seal.next(over: [Self.transfer(step: "refund/\(number)")])
            #expect(next.chain == "chain" && next.number == number)
            #expect(next.previous == seal.hash && next.hash != seal.hash)
            seal = next
        }
    }

    @Test("A new chain begins after the newest seal of all chains")
    func newChain() {
        let newest = Seal.beginning(of: "old", after: .origin).next(over: [Self.transfer()])
        let first = Seal.beginning(of: "new", after: newest).next(over: Self.variants)
        #expect(first.chain == "new" && first.number == 1 && first.previous == newest.hash)
        let otherNewest = Seal.beginning(of: "old", after: .origin).next(over: Self.variants)
        let other = Seal.beginning(of: "new", after: otherNewest).next(over: Self.variants)
        #expect(other.hash != first.hash)
    }

    @Test("A batch begins a chain after the newest seal, and then follows its own tail")
    func batches() throws {
        var rig = Rig()
        let newest = try #require(rig.books.seals.last)
        func open(_ name: String, cents: Int64) -> [Submitted] {
            let opening = Money(minorUnits: cents)
            let command = OpenAccount(login: name, displayName: name, opening: opening)
            return [Submitted(command, at: Timestamp(milliseconds: 2_000))]
        }
        let first = try rig.books.commit(Batch(open("a", cents: 1), chain: "zz"))
        #expect(first.seal?.chain == "zz" && first.seal?.number == 1)
        #expect(first.seal?.previous == newest.hash)
        let empty = try rig.books.commit(Batch(open("b", cents: 0), tail: first.seal))
        #expect(empty.seal == nil, "a batch without transfers has no seal")
        let second = try rig.books.commit(Batch(open("c", cents: 1), tail: first.seal))
        #expect(second.seal?.chain == "zz" && second.seal?.number == 2)
        #expect(second.seal?.previous == first.seal?.hash)
        #expect(rig.books.complaint == nil)
    }

    @Test("Ids of chains sort by the millisecond of their creation, and no two are equal")
    func chainIDs() async throws {
        let ids = (0..<1_000).map { _ in Seal.newChain() }
        #expect(Set(ids).count == ids.count)
        #expect(ids.allSatisfy { $0.wholeMatch(of: /[0-9a-f]{20}/) != nil })
        #expect(ids.map { $0.prefix(12) } == ids.map { $0.prefix(12) }.sorted())
    }

    @Test("A recorded seal is read back, and other texts are refused")
    func pin() throws {
        let seal = Seal.beginning(of: "0199ab", after: .origin).next(over: [Self.transfer()])
        let pin = SealPin(seal)
        #expect(SealPin(pin.description) == pin)
        #expect(pin.hash.wholeMatch(of: /[0-9a-f]{64}/) != nil)
        #expect(SealPin("0199ab:1:\(pin.hash.uppercased())") == pin)
        #expect(SealPin("0a:4:\(pin.hash)")?.number == 4)
        let wrong = [
            "", "::", ":1:\(pin.hash)", "0199ab:0:\(pin.hash)", "0199ab:-1:\(pin.hash)",
            "0199ab:x:\(pin.hash)", "0199ab:1:\(pin.hash.dropLast())", "0199ab:1:\(pin.hash)0",
            "0199ab:1:\(pin.hash.dropLast())g", "0199ab:1", "0199ab:1:\(pin.hash):",
            "x:1:\(pin.hash)", "0199ab", "0199ab:1:", "0199ab:1:zz", "1:\(pin.hash)",
        ]
        for text in wrong { #expect(SealPin(text) == nil, "\(text)") }
    }
}
