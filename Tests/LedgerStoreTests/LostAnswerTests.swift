import GotchuCore
import Ledger
import LedgerStore
import LedgerTestSupport
import Payments
import TestSupport
import Testing

/// Answers that are missing because somebody deleted them or a backup was incomplete.
@Suite("A payment whose answer is lost")
struct LostAnswerTests {
    @Test(
        "A paid session is not paid again although its answer is lost",
        arguments: StoreKind.single
    )
    func once(kind: StoreKind) async throws {
        let database = try kind.makeDatabase()
        let store = try database.open()
        try await withLedger(on: store) { ledger in
            let payee = try await ledger.user("payee", cents: 0)
            let payer = try await ledger.user("payer", cents: 100)
            let key = "key-0123456789-0"
            let first = try await ledger.lockedSession(payee: payee, payer: payer, cents: 7)
            #expect(try await ledger.pay(first, by: payer, key: key).isAccepted)
            try database.damage("DELETE FROM answers")
            let again = try await ledger.pay(first, by: payer, key: key)
            #expect(again.refusal == Refusal(.sessionPaid) && !again.isReplay)
            #expect(try await store.balance(of: payer) == 93)
            let second = try await ledger.lockedSession(payee: payee, payer: payer, cents: 7)
            let other = try await ledger.pay(second, by: payer, key: "key-0123456789-1")
            #expect(other.isAccepted)
            #expect(try await store.balance(of: payer) == 86)
        }
        let broken = try database.audit().findings.filter { $0.violation != nil }
        #expect(broken.map(\.rule).contains { $0.hasPrefix("every transfer made with a key") })
    }

    @Test(
        "A paid session whose record and answer are as before its payment is not paid twice",
        arguments: StoreKind.all
    )
    func forgottenPayment(kind: StoreKind) async throws {
        let database = try kind.makeDatabase()
        let store = try database.open()
        try await withLedger(on: store) { ledger in
            let payee = try await ledger.user("payee", cents: 0)
            let payer = try await ledger.user("payer", cents: 100)
            let session = try await ledger.lockedSession(payee: payee, payer: payer, cents: 7)
            let before = try await store.record(RecordID(session.id))
            let key = "key-0123456789-0"
            #expect(try await ledger.pay(session, by: payer, key: key).isAccepted)
            try database.damage(
                """
                DELETE FROM answers;
                UPDATE records SET state = 'LOCKED', body = '\(before?.body ?? "")'
                """
            )
            // The payment's transfer still exists, and its step is unique.
            await #expect(throws: LedgerError.self) {
                _ = try await ledger.pay(session, by: payer, key: key)
            }
            #expect(try await store.balance(of: payer) == 93)
        }
        #expect(try !database.audit().isClean)
    }
}
