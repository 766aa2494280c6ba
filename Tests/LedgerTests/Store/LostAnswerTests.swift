import GotchuCore
import Ledger
import TestSupport
import Testing

/// Answers that are gone from the books: somebody pruned them by hand, or restored half a backup.
@Suite("A payment whose answer is lost", .timeLimit(.minutes(hangLimit)))
struct LostAnswerTests {
    @Test(
        "is not made again, neither for its session nor for another",
        arguments: StoreKind.allCases
    )
    func once(kind: StoreKind) async throws {
        let books = try kind.makeBooks()
        try await withLedger(on: try books.open()) { ledger in
            let payee = try await ledger.user("payee", cents: 0)
            let payer = try await ledger.user("payer", cents: 100)
            let key = "key-0123456789-0"
            let first = try await ledger.lockedSession(payee: payee, payer: payer, cents: 7)
            #expect(try await ledger.pay(first, by: payer, key: key).send.outcome.isPaid)
            try books.execute("DELETE FROM sends")
            let again = try await ledger.pay(first, by: payer, key: key)
            #expect(again.send.outcome == .declined(Refusal(.sessionPaid)))
            try books.execute("DELETE FROM sends")
            let second = try await ledger.lockedSession(payee: payee, payer: payer, cents: 7)
            // The transfer keeps its key for ever.
            await #expect(throws: LedgerError.self) {
                _ = try await ledger.pay(second, by: payer, key: key)
            }
            #expect(try await ledger.statement(of: payer, entries: 1)?.wallet.balance == 93)
            let other = try await ledger.pay(second, by: payer, key: "key-0123456789-1")
            #expect(other.send.outcome.isPaid)
            #expect(try await ledger.statement(of: payer, entries: 1)?.wallet.balance == 86)
        }
        let broken = try books.audit().findings.filter { $0.broken != nil }
        #expect(broken.map(\.rule) == ["every payment is what its key was answered with (answers)"])
    }
}
