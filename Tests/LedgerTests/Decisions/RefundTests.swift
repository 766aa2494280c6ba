import GotchuCore
import Ledger
import LedgerTestSupport
import Payments
import Testing

/// Refunds. Each is made once, and their sum never exceeds the payment.
@Suite("Refunds")
struct RefundTests {
    private static let states: [SessionStatus] = [
        .advertising, .locked, .paid, .expired, .cancelled,
    ]

    private let whole = Step.Action.refund(session: 0, user: 0, key: 0, amount: nil)

    private func part(_ amount: Int64, key: Int) -> Step.Action {
        .refund(session: 0, user: 0, key: key, amount: amount)
    }

    @Test("Only a paid session can be refunded, and a refusal is remembered", arguments: states)
    func state(status: SessionStatus) {
        var rig = Rig()
        rig.bring(to: status)
        let first = rig.submit(whole)
        #expect(first.reason == (status == .paid ? nil : .sessionNotPaid))
        #expect((first.refund != nil) == (status == .paid))
        let before = rig.books
        let second = rig.submit(whole)
        #expect(second.isReplay && second.outcome == first.outcome)
        #expect(rig.books == before)
        #expect(rig.books.complaint == nil)
    }

    @Test("Only the payee can refund, and the refusal of other users is not remembered")
    func stranger() {
        var rig = Rig()
        rig.bring(to: .paid)
        let before = rig.books
        for user in [1, 2] {
            let other = rig.submit(.refund(session: 0, user: user, key: 0, amount: nil))
            #expect(other.refusal == Refusal(.forbidden) && !other.isRemembered)
        }
        #expect(rig.books == before)
    }

    @Test("Partial refunds never exceed the payment")
    func parts() {
        var rig = Rig()
        rig.bring(to: .paid)
        #expect(rig.submit(part(2, key: 0)).refund != nil)
        #expect(rig.submit(part(4, key: 1)).reason == .refundTooLarge)
        let rest = rig.submit(.refund(session: 0, user: 0, key: 2, amount: nil)).refund
        #expect(rest?.amount == 3 && rest?.total == 5 && rest?.newBalance == 10)
        #expect(rig.balance(of: 0) == 10 && rig.balance(of: 1) == 10)
        #expect(rig.books.rows.accounts[Cast.account(0)]?.earned == 0)
        let again = Step.Action.refund(session: 0, user: 0, key: 2, amount: 1)
        #expect(rig.submit(again).reason == .keyReused)
        #expect(rig.books.complaint == nil)
    }

    @Test("A refund of zero or a negative amount is refused", arguments: [Int64.min, -1, 0])
    func nothing(amount: Int64) {
        var rig = Rig()
        rig.bring(to: .paid)
        #expect(rig.submit(part(amount, key: 0)).reason == .refundTooLarge)
        #expect(rig.balance(of: 0) == 15 && rig.balance(of: 1) == 5)
    }

    @Test("A payee who has spent the money cannot refund it, and a later try needs a new key")
    func broke() {
        var rig = Rig()
        rig.bring(to: .paid)
        rig.submit(.create(session: 1, payee: 2, amount: 12, seconds: 300, proposesTaken: false))
        rig.submit(.lock(session: 1, user: 0))
        rig.submit(.send(session: 1, user: 0, key: 0, expected: nil))
        let refusal = Refusal(.insufficientBalance, required: 5, available: 3)
        #expect(rig.submit(whole).refusal == refusal)
        rig.submit(.refund(session: 1, user: 2, key: 0, amount: nil))
        let again = rig.submit(whole)
        #expect(again.refusal == refusal && again.isReplay)
        #expect(rig.submit(.refund(session: 0, user: 0, key: 1, amount: nil)).refund != nil)
        #expect(rig.books.complaint == nil)
    }

    @Test("The first of two full refunds in one batch is made, and the second is refused")
    func both() {
        var rig = Rig()
        rig.bring(to: .paid)
        let commands = [whole, .refund(session: 0, user: 0, key: 1, amount: nil)]
            .map { rig.submission(of: $0) }
        let effects = rig.commit(commands)
        #expect(commands.map { $0.answer?.reason } == [nil, .sessionRefunded])
        #expect(commands[0].answer?.refund != nil)
        #expect(effects.transfers.count == 1)
    }

    @Test("A payment and its full refund in one batch leave the balances unchanged")
    func paidInTheSameBatch() {
        var rig = Rig()
        rig.bring(to: .locked)
        let send = Step.Action.send(session: 0, user: 1, key: 0, expected: nil)
        let commands = [send, part(2, key: 0), part(3, key: 1)].map { rig.submission(of: $0) }
        let effects = rig.commit(commands)
        #expect(commands[2].answer?.refund?.total == 5)
        #expect(effects.transfers.map(\.key.step) == ["paid", "refund/2", "refund/5"])
        #expect(effects.events.map(\.amount) == [nil, 2, 3])
        #expect(rig.balance(of: 0) == 10 && rig.balance(of: 1) == 10)
        #expect(rig.books.complaint == nil)
    }

    @Test("A refund can have the same key as a payment of the same user")
    func keys() {
        var rig = Rig()
        rig.bring(to: .paid)
        rig.submit(.create(session: 1, payee: 1, amount: 1, seconds: 300, proposesTaken: false))
        rig.submit(.lock(session: 1, user: 0))
        #expect(rig.submit(.send(session: 1, user: 0, key: 0, expected: nil)).payment != nil)
        let refund = rig.submit(whole)
        #expect(refund.refund != nil && !refund.isReplay)
    }
}
