import GotchuCore
import Ledger
import LedgerTestSupport
import Payments
import Testing

/// Money that a payer adds to the amount.
@Suite("Tips")
struct TipTests {
    /// Returns a rig with two sessions of user 0 for 5 cents, locked by user 1. Only the first
    /// session allows a tip.
    private func lockedRig() -> Rig {
        var rig = Rig()
        for session in 0...1 {
            rig.submit(
                .create(
                    session: session,
                    payee: 0,
                    amount: 5,
                    seconds: 300,
                    proposesTaken: false,
                    allowsTip: session == 0
                )
            )
            rig.submit(.lock(session: session, user: 1))
        }
        return rig
    }

    private func send(
        _ tip: Int64,
        session: Int = 0,
        key: Int = 0,
        expected: Int64? = nil
    ) -> Step.Action {
        .send(session: session, user: 1, key: key, expected: expected, tip: tip)
    }

    private func refund(_ amount: Int64?, key: Int) -> Step.Action {
        .refund(session: 0, user: 0, key: key, amount: amount)
    }

    private func session(_ rig: Rig) throws -> Session {
        try Session(try #require(rig.books.rows.records[RecordID(Cast.sessions[0])]))
    }

    @Test("A payment moves amount and tip in one transfer, and its expected amount has no tip")
    func paid() throws {
        var rig = lockedRig()
        let effects = rig.commit([rig.submission(of: send(2, expected: 5))])
        #expect(effects.transfers.map { $0.entries.map(\.amount) } == [[-7, 7]])
        #expect(rig.balance(of: 0) == 17 && rig.balance(of: 1) == 3)
        #expect(rig.books.rows.accounts[Cast.account(0)]?.earned == 7)
        let paid = try session(rig)
        #expect(paid.amount.minorUnits == 5 && paid.tip == 2)
        #expect(effects.transfers[0].entries.map { paid.tip(in: $0) } == [2, 2])
        #expect(rig.submit(send(2, expected: 5)).payment?.tip == 2)
        #expect(rig.books.complaint == nil)
    }

    @Test("An expected amount that includes the tip is refused")
    func expectedSum() {
        var rig = lockedRig()
        #expect(rig.submit(send(2, expected: 7)).reason == .amountChanged)
    }

    @Test("A payment without a tip has the tip 0 if its session allows tips, and no tip otherwise")
    func none() throws {
        var rig = lockedRig()
        #expect(rig.submit(send(0)).payment?.tip == 0)
        #expect(try session(rig).tip == 0)
        let plain = rig.submit(send(0, session: 1, key: 1))
        #expect(plain.payment != nil && plain.payment?.tip == nil)
    }

    @Test("A session that allows no tips refuses a tip, and the key remembers the refusal")
    func notAllowed() {
        var rig = lockedRig()
        let refused = rig.submit(send(1, session: 1))
        #expect(refused.refusal == Refusal(.tipNotAllowed) && refused.isRemembered)
        #expect(rig.submit(send(1, session: 1)).isReplay)
        #expect(rig.submit(send(0, session: 1, key: 1)).payment != nil)
    }

    @Test("A session's state and amount are checked before the tip")
    func order() {
        var rig = lockedRig()
        rig.submit(.unlock(session: 1, user: 1))
        #expect(rig.submit(send(1, session: 1)).reason == .sessionNotLocked)
        rig.submit(.lock(session: 1, user: 1))
        #expect(rig.submit(send(1, session: 1, key: 1, expected: 4)).reason == .amountChanged)
    }

    @Test(
        "A tip that is negative or makes the payment too large is refused",
        arguments: [.min, -1, 100_000_000 - 4, 100_000_000, .max] as [Int64]
    )
    func bounds(tip: Int64) {
        var rig = lockedRig()
        #expect(rig.submit(send(tip)).reason == .tipNotAllowed)
        #expect(rig.submit(send(100_000_000 - 5, key: 1)).reason == .insufficientBalance)
        #expect(rig.balance(of: 0) == 10 && rig.balance(of: 1) == 10)
    }

    @Test("A payer with the amount but not the tip pays nothing, and the refusal names the sum")
    func poor() {
        var rig = lockedRig()
        let refusal = Refusal(.insufficientBalance, required: 11, available: 10)
        #expect(rig.submit(send(6)).refusal == refusal)
        #expect(rig.submit(send(5, key: 1)).payment?.newBalance == 0)
    }

    @Test("A key that is used again with another tip is refused, and changes nothing")
    func reused() {
        var rig = lockedRig()
        rig.submit(send(2))
        let before = rig.books
        for tip in [0, 1, 3] as [Int64] {
            #expect(rig.submit(send(tip)).refusal == Refusal(.keyReused))
        }
        #expect(rig.books == before)
    }

    @Test("A refund without an amount refunds the amount and the tip")
    func whole() throws {
        var rig = lockedRig()
        rig.submit(send(2))
        let back = rig.submit(refund(nil, key: 0)).refund
        #expect(back?.amount == 7 && back?.tip == 2 && back?.total == 7)
        #expect(rig.balance(of: 0) == 10 && rig.balance(of: 1) == 10)
        #expect(try session(rig).tip == 2)
        #expect(rig.submit(refund(1, key: 1)).reason == .sessionRefunded)
        #expect(rig.books.complaint == nil)
    }

    @Test("Partial refunds take from the amount first, then from the tip")
    func parts() throws {
        var rig = lockedRig()
        rig.submit(send(3))
        let backs = [4, 2, 2].enumerated().map { rig.submit(refund($1, key: $0)).refund }
        #expect(backs.map { $0?.amount } == [4, 2, 2])
        #expect(backs.map { $0?.tip } == [0, 1, 2])
        let paid = try session(rig)
        let entries = rig.books.transfers.values.filter { $0.kind == "REFUND" }
            .sorted { $0.key.step < $1.key.step }.flatMap(\.entries)
        #expect(entries.map { paid.tip(in: $0) } == [0, 0, 1, 1, 2, 2])
        #expect(rig.books.complaint == nil)
    }

    @Test("A refund never exceeds the sum of the amount and the tip")
    func tooLarge() {
        var rig = lockedRig()
        rig.submit(send(2))
        #expect(rig.submit(refund(8, key: 0)).reason == .refundTooLarge)
        #expect(rig.submit(refund(7, key: 1)).refund?.tip == 2)
    }
}
