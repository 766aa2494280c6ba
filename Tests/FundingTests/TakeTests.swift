import GotchuCore
import Ledger
import LedgerTestSupport
import Payments
import TestSupport
import Testing

@testable import Funding

@Suite("The house's part")
struct TakeTests {
    @Test("The take and the net amount sum to the paid amount, and partial refunds return both")
    func sums() throws {
        var random = SeededGenerator("Takes")
        for _ in 0..<200 * effort {
            let bps = Int64.random(in: 0...5_000, using: &random)
            let amount = Int64.random(in: 1...3_000, using: &random)
            let tip = Bool.random(using: &random) ? Int64.random(in: 1...50, using: &random) : 0
            try runStory(amount, tip: tip, bps: bps, &random)
        }
    }

    private func runStory(
        _ amount: Int64,
        tip: Int64,
        bps: Int64,
        _ random: inout SeededGenerator
    ) throws {
        var rig = FundingBooks()
        let (payer, payee) = (try rig.user("payer", cents: 5_000), try rig.user("payee"))
        let session = try paid(amount, tip: tip, bps: bps, payer, payee, &rig)
        // The take is a part of the amount without the tip, rounded down.
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
            _ = try rig.submit(refund, by: payee).outcome.get()
            rest -= part
            let kept = min(amount, rest > tip ? rest - tip : 0)
            // The take that remains is the exact part of the kept amount, rounded up to a cent.
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
            defaultTakeBasisPoints: bps
        )
        let session = try rig.submit(create).get().session.id
        _ = try rig.submit(LockSession(session: session, payer: payer)).get()
        let pay = Pay(session: session, payer: payer, expectedAmount: nil, tip: tip)
        let outcome = try rig.submit(pay, by: payer).outcome.get()
        #expect(outcome.newBalance == 5_000 - amount - tip)
        return session
    }

    @Test("Each share of a bill has its take, and the refund of a share returns it")
    func shares() throws {
        for isAllOrNothing in [false, true] {
            var rig = FundingBooks()
            let payee = try rig.user("payee")
            let payers = try (1...3).map { try rig.user("payer-\($0)", cents: 1_000) }
            let create = CreateGroup(
                purpose: Split.name,
                payee: payee,
                currency: .usd,
                shares: [334, 333, 333],
                isAllOrNothing: isAllOrNothing,
                memo: nil,
                reference: nil,
                lifetime: .seconds(300),
                defaultTakeBasisPoints: 1_000
            )
            let group = try rig.submit(create).get().session.id
            var shares: [SessionID] = []
            for (index, payer) in payers.enumerated() {
                let lock = LockSession(session: group, payer: payer, place: Int64(index) + 1)
                shares.append(try rig.submit(lock).get().id)
                let pay = Pay(session: group, payer: payer, expectedAmount: nil)
                _ = try rig.submit(pay, by: payer).outcome.get()
            }
            #expect(rig.balance(.houseOf(.take, payee)) == 99)
            #expect(rig.balance(.user(payee)) == 1_000 - 99)
            #expect(rig.sessionComplaint == nil)
            let refund = RefundPayment(session: shares[0], payee: payee, amount: nil)
            _ = try rig.submit(refund, by: payee).outcome.get()
            #expect(rig.balance(.houseOf(.take, payee)) == 66)
            #expect(rig.balance(.user(payee)) == 666 - 66)
            #expect(rig.balance(.user(payers[0])) == 1_000)
            #expect(rig.sessionComplaint == nil)
        }
    }

    @Test("A payee's own take overrides the default take")
    func own() throws {
        var rig = FundingBooks()
        let (payer, payee) = (try rig.user("payer", cents: 5_000), try rig.user("payee"))
        _ = try rig.submit(SetTerms(payee) { $0.takeBasisPoints = 1_000 }).get()
        _ = try paid(1_000, tip: 0, bps: 2_000, payer, payee, &rig)
        #expect(rig.balance(.houseOf(.take, payee)) == 100)
        #expect(rig.books.rows.users[payee]?.terms.takeBasisPoints == 1_000)
    }
}

extension FundingBooks {
    /// The first inconsistency of a session or a group with its transfers; `nil` if there is none.
    fileprivate var sessionComplaint: String? {
        let rules: [RecordRule] = [.sessions, .groups]
        return rules.lazy.flatMap { rule in
            books.rows.records.values.filter { $0.kind == rule.kind }.lazy
                .compactMap { rule.violation($0, books.recordRows(of: $0.id)) }
        }.first
    }
}
