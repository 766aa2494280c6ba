import GotchuCore
import Ledger
import LedgerTestSupport
import TestSupport
import Testing

@Suite("At the ends of what can be", .timeLimit(.minutes(hangLimit)))
struct ExtremeTests {
    @Test(
        "all the money that a number holds can be paid and given back",
        arguments: StoreKind.allCases
    )
    func largest(kind: StoreKind) async throws {
        let books = try kind.makeBooks()
        let rich = try await withLedger(on: try books.open()) { ledger in
            let rich = try await ledger.user("rich", cents: .max - 7)
            let payer = try await ledger.user("payer", cents: 7)
            for round in 0..<2 {
                let session = try await ledger.lockedSession(payee: rich, payer: payer, cents: 7)
                let key = "key-0123456789-\(round)"
                let paid = try await ledger.pay(session, by: payer, key: key)
                #expect(paid.send.outcome.isPaid)
                #expect(try await ledger.statement(of: rich, entries: 1)?.wallet.balance == .max)
                if round == 0 { try await Self.giveBack(session, by: rich, key: key, on: ledger) }
            }
            return rich
        }
        let audit = try books.audit()
        #expect(audit.isClean, "\(audit.findings)")
        let wallet = try await books.open().statement(of: rich, entries: 9)
        #expect(wallet?.wallet.balance == .max && wallet?.entries.count == 4)
    }

    private static func giveBack(
        _ session: Session,
        by payee: UserID,
        key: String,
        on ledger: Ledger
    ) async throws {
        let refund = Refund(
            key: SendKey(user: payee, key: try #require(IdempotencyKey(rawValue: key))),
            fingerprint: Cast.fingerprint(session: 0, expected: nil),
            session: session.id,
            amount: nil,
            requestID: "request"
        )
        guard case .accepted(let answer) = try await ledger.refund(refund),
            case .refunded(let made) = answer.refund.outcome
        else { throw UnexpectedRefusal(description: "the refund") }
        #expect(made.newBalance == .max - 7)
    }

    @Test(
        "books whose sums do not fit are not right, and that is said",
        arguments: StoreKind.allCases
    )
    func sums(kind: StoreKind) async throws {
        let books = try await Planted.books(kind)
        try books.damage("UPDATE wallets SET balance = \(Int64.max) WHERE user_id IS NOT NULL")
        let finding = try books.audit().findings.first { $0.rule.hasPrefix("all accounts") }
        #expect(finding?.broken != nil)
    }

    @Test(
        "books with times beyond all times are not right, and that is said",
        arguments: StoreKind.allCases
    )
    func times(kind: StoreKind) async throws {
        let books = try await Planted.books(kind)
        let zeros = String(repeating: "00", count: 32)
        let hash = kind == .sqlite ? "x'\(zeros)'" : "'\\x\(zeros)'::bytea"
        try books.damage(
            """
            INSERT INTO seals VALUES (1, 'transfer-6', \(hash));
            UPDATE transfers SET created_at = -9223372036854775807 - 1 WHERE id = 'transfer-6'
            """
        )
        let audit = try books.audit()
        #expect(audit.findings.contains { $0.broken == "seal 1 does not fit transfer transfer-6" })
    }
}
