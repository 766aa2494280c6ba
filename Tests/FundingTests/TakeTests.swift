import GotchuCore
import Ledger
import LedgerTestSupport
import Payments
import TestSupport
import Testing

@testable import Funding

@Suite("The house's part")
struct TakeTests {
    @Test("Take and net are the amount, and refunds in parts give both back exactly")
    func sums() throws {
        var random = SeededGenerator("Takes")
        for _ in 0..<200 * effort {
            let bps = Int64.random(in: 0...5_000, using: &random)
            let amount = Int64.random(in: 1...3_000, using: &random)
            let tip = Bool.random(using: &random) ? Int64.random(in: 1...50, using: &random) : 0
            try tell(amount, tip: tip, bps: bps, &random)
        }
    }

    private func tell(
        _ amount: Int64,
        tip: Int64,
        bps: Int64,
        _ random: inout SeededGenerator
    ) throws {
        var rig = FundingBooks()
        let (payer, payee) = (try rig.user("payer", cents: 5_000), try rig.user("payee"))
        let session = try paid(amount, tip: tip, bps: bps, payer, payee, &rig)
        // The part is rounded down, and of the amount alone.
        var take: Int64 = 0
        while (take + 1) * 10_000 <= amount * bps { take += 1 }
        let account = Account.Owner.houseOf(.take, payee)
        #expect(rig.balance(account) == take)
        #expect(rig.balance(.user(payee)) == amount + tip - take)
        #expect(rig.account(.user(payee)).earned == amount + tip - take)
        var rest = amount + tip
        while rest > 0 {
            let part = Int64.random(in: 1...rest, using: &random)
            let refund = RefundPayment(session: session, payee: payee, amount: part)
            _ = try rig.tell(refund, by: payee).outcome.get()
            rest -= part
            let kept = min(amount, rest > tip ? rest - tip : 0)
            // Never less than the part of what is kept, and less than a cent more.
            let exact = (rig.balance(account), take * kept)
            #expect(exact.0 * amount >= exact.1 && (exact.0 - 1) * amount < exact.1)
            #expect(rig.sessionComplaint == nil, "seed \(random.seed)")
        }
        #expect(rig.balance(account) == 0)
        #expect(rig.balance(.user(payee)) == 0 && rig.balance(.user(payer)) == 5_000)
        #expect(rig.account(.user(payee)).earned == 0)
    }

    private func paid(
        _ amount: Int64,
        tip: Int64,
        bps: Int64,
        _ payer: UserID,
        _ payee: UserID,
        _ rig: inout FundingBooks
    ) throws -> SessionID {
        let create = CreateSession(
            payee: payee,
            amount: Money(minorUnits: amount),
            memo: nil,
            reference: nil,
            lifetime: .seconds(300),
            allowsTip: true,
            usualTake: bps
        )
        let session = try rig.tell(create).get().id
        _ = try rig.tell(LockSession(session: session, payer: payer)).get()
        let pay = Pay(session: session, payer: payer, expectedAmount: nil, tip: tip)
        let outcome = try rig.tell(pay, by: payer).outcome.get()
        #expect(outcome.newBalance == 5_000 - amount - tip)
        return session
    }

    @Test("A payee's own part goes before the usual one, and stays as it was when they asked")
    func own() throws {
        var rig = FundingBooks()
        let (payer, payee) = (try rig.user("payer", cents: 5_000), try rig.user("payee"))
        _ = try rig.tell(SetTerms(payee) { $0.takeBasisPoints = 1_000 }).get()
        _ = try paid(1_000, tip: 0, bps: 2_000, payer, payee, &rig)
        #expect(rig.balance(.houseOf(.take, payee)) == 100)
        #expect(rig.books.rows.users[payee]?.terms.takeBasisPoints == 1_000)
    }
}

extension FundingBooks {
    /// The reason why a session and its transfers disagree, if they do.
    fileprivate var sessionComplaint: String? {
        books.rows.records.values.filter { $0.kind == Session.kind }.lazy
            .compactMap { RecordRule.sessions.broken($0, books.file(of: $0.id)) }.first
    }
}
