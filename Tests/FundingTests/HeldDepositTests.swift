import GotchuCore
import Ledger
import Testing

@testable import Funding

/// Deposits whose money is not as ordered, or may go back.
@Suite("Held and disputed deposits")
struct HeldDepositTests {
    @Test(
        "A paid amount that differs from the order is held, and booked once the operator accepts it"
    )
    func held() throws {
        var rig = FundingBooks()
        let payer = try rig.user("payer")
        let id = try rig.open(2_000, by: payer).outcome.get()
        let other = DepositTests.seen(id, amount: 1_500)
        _ = try rig.submit(Observe(id, .deposit(other))).get()
        #expect(try rig.deposit(id).state == .held)
        #expect(rig.balance(.user(payer)) == 0)
        #expect(throws: Refusal(.intentSettled)) { try rig.submit(CancelHeldDeposit(id)).get() }
        _ = try rig.submit(AcceptDeposit(id)).get()
        _ = try rig.submit(Observe(id, .deposit(other))).get()
        #expect(try rig.deposit(id).state == .succeeded)
        #expect(rig.balance(.user(payer)) == 1_500)
        #expect(rig.complaint == nil)
    }

    @Test("A deposit paid in another currency is dropped once that is refunded, and stays dropped")
    func dropped() throws {
        var rig = FundingBooks()
        let payer = try rig.user("payer")
        let id = try rig.open(2_000, by: payer).outcome.get()
        let foreign = DepositTests.seen(id, amount: 1_850, currency: "EUR")
        _ = try rig.submit(Observe(id, .deposit(foreign))).get()
        #expect(try rig.deposit(id).body.unbookable?.text == "18.50 eur")
        #expect(throws: Refusal(.intentSettled)) { try rig.submit(AcceptDeposit(id)).get() }
        #expect(throws: Refusal(.intentSettled)) { try rig.submit(CancelHeldDeposit(id)).get() }
        // Later observations of the same payment change nothing.
        _ = try rig.submit(CancelHeldDeposit(id, isRefunded: true)).get()
        let other = DepositTests.seen(id, amount: 1_851, currency: "eur")
        for (seen, state) in [(foreign, DepositBody.State.canceled), (other, .held)] {
            _ = try rig.submit(Wake(id)).get()
            _ = try rig.submit(Observe(id, .deposit(seen))).get()
            #expect(try rig.deposit(id).state == state)
            #expect(try (rig.deposit(id).refreshAt == nil) == (state == .canceled))
        }
        _ = try rig.submit(CancelHeldDeposit(id, isRefunded: true)).get()
        #expect(rig.balance(.user(payer)) == 0 && rig.complaint == nil)
    }

    @Test(
        "A live payment for a test deposit is not booked, even if the operator tries to accept it",
        arguments: [true, false]
    )
    func mode(isAccepted: Bool) throws {
        var rig = FundingBooks()
        let payer = try rig.user("payer")
        let id = try rig.open(2_000, by: payer).outcome.get()
        let live = DepositTests.seen(id, isLive: true)
        _ = try rig.submit(Observe(id, .deposit(live))).get()
        if isAccepted {
            #expect(throws: Refusal(.intentSettled)) { try rig.submit(AcceptDeposit(id)).get() }
        }
        #expect(rig.balance(.user(payer)) == 0)
    }

    @Test("Money that a dispute has taken may come back until the dispute is won or lost")
    func openDispute() throws {
        func line(_ amount: Int64) -> SeenTransaction {
            SeenTransaction(
                id: "txn_\(amount)",
                type: "adjustment",
                amount: amount,
                fee: 0,
                currency: "usd"
            )
        }
        func mayBeReturned(_ disputes: [SeenReversal], isStored: Bool = true) throws -> Bool {
            var rig = FundingBooks()
            let payer = try rig.user("payer")
            let id = try rig.open(2_000, by: payer).outcome.get()
            let charge = SeenCharge(transaction: nil, disputes: disputes)
            _ = try rig.submit(Observe(id, .deposit(DepositTests.seen(id, charge: charge)))).get()
            var body = try rig.deposit(id).body
            if !isStored { body.isDisputed = nil }
            return body.mayBeReturned
        }
        let out = line(-2_000)
        #expect(try !mayBeReturned([]))
        #expect(try !mayBeReturned([SeenReversal(id: "dp_1", amount: 2_000, out: nil)]))
        #expect(try mayBeReturned([SeenReversal(id: "dp_1", amount: 2_000, out: out)]))
        let lost = SeenReversal(id: "dp_2", amount: 2_000, out: out, isLost: true)
        let won = SeenReversal(id: "dp_3", amount: 2_000, out: out, back: line(2_000))
        #expect(try !mayBeReturned([lost, won]))
        // Without what an older program did not store, only the booked facts are known.
        #expect(try mayBeReturned([lost], isStored: false))
        #expect(try !mayBeReturned([won], isStored: false))
    }
}
