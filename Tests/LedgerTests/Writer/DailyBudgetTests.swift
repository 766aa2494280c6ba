import GotchuCore
import LedgerTestSupport
import Payments
import TestSupport
import Testing

@testable import Ledger

@Suite("A user's daily budget")
struct DailyBudgetTests {
    private static let mebibyte = 1 << 20

    /// A command that stores a record for ever.
    private struct StoreRecord: LedgerCommand {
        static let name = "store-record"
        let owner: UserID
        let size: Int

        var spender: UserID? { owner }

        func touch(_ footprint: inout Footprint, knowing rows: Snapshot?) {}

        func decide(on books: inout Books, at time: Timestamp) throws(Refusal) {
            books.put(
                Record(
                    id: .make(),
                    kind: "test",
                    owner: owner,
                    state: "made",
                    version: 1,
                    createdAt: time,
                    dueAt: nil,
                    body: String(repeating: "a", count: size)
                )
            )
        }
    }

    @Test("The budget is spent by its last part, counts each user alone, and is whole next day")
    func days() {
        let budget = DailyBudget(limit: 100)
        let (first, second) = (UserID(trusted: "a"), UserID(trusted: "b"))
        let noon = Timestamp(milliseconds: 36 * 3_600_000)
        #expect(budget.spend(99, for: first, at: noon) && budget.hasRoom(for: first, at: noon))
        #expect(budget.spend(50, for: first, at: noon) && !budget.hasRoom(for: first, at: noon))
        #expect(!budget.spend(1, for: first, at: noon) && budget.spend(1, for: second, at: noon))
        budget.putBack(49, for: first)
        #expect(!budget.hasRoom(for: first, at: noon))
        budget.putBack(1, for: first)
        #expect(budget.hasRoom(for: first, at: noon))
        #expect(budget.spend(1, for: first, at: noon))
        let left = DailyBudget.secondsLeft(at: noon)
        #expect(left == 12 * 3_600)
        let midnight = noon.advanced(by: .seconds(left))
        #expect(!budget.hasRoom(for: first, at: midnight.advanced(by: .milliseconds(-1))))
        #expect(budget.hasRoom(for: first, at: midnight))
    }

    @Test("A user who has stored too much is refused, others and payments are not")
    func spent() async throws {
        try await withLedger(on: MemoryStore(fixedTime: .now)) { ledger in
            let payee = try await ledger.user("payee", cents: 0)
            let other = try await ledger.user("other", cents: 0)
            let payer = try await ledger.user("payer", cents: 100)
            let session = try await ledger.lockedSession(payee: payee, payer: payer, cents: 7)
            func refusal(of user: UserID, _ size: Int = 0) async throws -> Refusal.Reason? {
                let command = StoreRecord(owner: user, size: size)
                guard case .failure(let refusal) = try await ledger.submit(command) else {
                    return nil
                }
                return refusal.reason
            }
            #expect(try await refusal(of: payee, DailyBudget.bytes - Self.mebibyte) == nil)
            #expect(try await refusal(of: payee, Self.mebibyte) == nil)
            #expect(try await refusal(of: payee) == .dailyLimit)
            #expect(try await refusal(of: other) == nil)
            // Payments are not refused, and a paid request costs its payee nothing.
            for number in 0..<2 {
                let key = "key-0123456789-\(number)"
                #expect(
                    try await ledger.pay(session, by: payer, key: key).isAccepted == (number == 0)
                )
            }
            #expect(try await refusal(of: payee) == nil)
            // A refund takes it again, and is not refused either.
            #expect(try await ledger.refund(session, key: "key-0123456789-2").isAccepted)
            #expect(try await refusal(of: payee) == .dailyLimit)
        }
    }

    @Test("No refusal is stored for a user who has stored too much")
    func refusals() async throws {
        try await withLedger(on: MemoryStore(fixedTime: .now)) { ledger in
            let payee = try await ledger.user("payee", cents: 0)
            let payer = try await ledger.user("payer", cents: 1)
            let session = try await ledger.lockedSession(payee: payee, payer: payer, cents: 7)
            let first = try await ledger.pay(session, by: payer, key: "key-0123456789-0")
            #expect(first.refusal?.reason == .insufficientBalance && first.isRemembered)
            let large = StoreRecord(owner: payer, size: DailyBudget.bytes)
            _ = try await ledger.submit(large)
            let second = try await ledger.pay(session, by: payer, key: "key-0123456789-1")
            #expect(second.refusal?.reason == .insufficientBalance && !second.isRemembered)
            let again = try await ledger.pay(session, by: payer, key: "key-0123456789-0")
            #expect(again.isReplay && again.refusal == first.refusal)
        }
    }
}
