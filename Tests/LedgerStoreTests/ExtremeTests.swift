import GotchuCore
import Ledger
import LedgerStore
import LedgerTestSupport
import Payments
import TestSupport
import Testing

@Suite("Extreme amounts and times")
struct ExtremeTests {
    @Test(
        "A payment can raise a balance to the largest 64-bit number, and can be refunded",
        arguments: StoreKind.all
    )
    func largest(kind: StoreKind) async throws {
        let database = try kind.makeDatabase()
        let store = try database.open()
        let rich = try await withLedger(on: store) { ledger in
            let rich = try await ledger.user("rich", cents: .max - 7)
            let payer = try await ledger.user("payer", cents: 7)
            for round in 0..<2 {
                let session = try await ledger.lockedSession(payee: rich, payer: payer, cents: 7)
                let key = "key-0123456789-\(round)"
                let paid = try await ledger.pay(session, by: payer, key: key)
                #expect(paid.isAccepted)
                #expect(try await store.balance(of: rich) == .max)
                if round == 0 { try await Self.refund(session, by: rich, key: key, on: ledger) }
            }
            return rich
        }
        let audit = try database.audit()
        #expect(audit.isClean, "\(audit.findings)")
        let account = try await database.open().account(of: rich, entries: 9)
        #expect(account?.account.balance == .max && account?.entries.count == 4)
    }

    private static func refund(
        _ session: Session,
        by payee: UserID,
        key: String,
        on ledger: Ledger
    ) async throws {
        let request = KeyedRequest(
            user: payee,
            key: try #require(IdempotencyKey(rawValue: key)),
            fingerprint: Cast.fingerprint(session: 0, expected: nil),
            id: "request"
        )
        let refund = RefundPayment(session: session.id, payee: payee, amount: nil)
        let made = try await ledger.submit(refund, as: request).outcome.get()
        #expect(made.newBalance == .max - 7)
    }

    @Test(
        "The audit reports a ledger whose sums overflow",
        arguments: StoreKind.single
    )
    func sums(kind: StoreKind) async throws {
        let database = try await SampleLedger.database(kind)
        try database.damage("UPDATE accounts SET balance = \(Int64.max) WHERE owner <> 'DEV_MINT'")
        let finding = try database.audit().findings.first { $0.rule.hasSuffix("(currencies)") }
        #expect(finding?.violation?.hasPrefix("the balances in usd sum to ") == true)
    }

    @Test(
        "The audit reports a ledger with times out of range",
        arguments: StoreKind.single
    )
    func times(kind: StoreKind) async throws {
        let database = try await SampleLedger.database(kind)
        try database.damage(
            """
            UPDATE transfers SET at = -9223372036854775807 - 1 WHERE step = 'paid';
            UPDATE entries SET at = -9223372036854775807 - 1 WHERE step = 'paid';
            UPDATE records SET created_at = 9223372036854775807 WHERE id = 'session-0'
            """
        )
        let broken = try database.audit().findings.compactMap(\.violation)
        #expect(broken.contains("transfer paid of session-0 does not match its stored hash"))
        #expect(broken.contains("session session-0 cannot be read"), "\(broken)")
    }
}
