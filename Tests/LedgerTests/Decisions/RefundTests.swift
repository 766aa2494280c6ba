import GotchuCore
import Ledger
import LedgerTestSupport
import Testing

/// What was paid goes back, once and never more.
@Suite("Refunds")
struct RefundTests {
    private static let states: [SessionStatus] = [
        .advertising, .locked, .paid, .timeout, .cancelled,
    ]

    private let whole = Step.Action.refund(session: 0, user: 0, key: 0, amount: nil)

    private func part(_ amount: Int64, key: Int) -> Step.Action {
        .refund(session: 0, user: 0, key: key, amount: amount)
    }

    @Test("only a paid session can be refunded, and a refusal is remembered", arguments: states)
    func state(status: SessionStatus) {
        var rig = Rig()
        rig.bring(to: status)
        #expect(rig.take(whole).reason == (status == .paid ? nil : .sessionNotPaid))
        let before = rig.books
        #expect(rig.take(whole).refund?.isReplay == true)
        #expect(rig.books == before)
        #expect(rig.books.complaint == nil)
    }

    @Test("only the payee can refund, and that is not remembered")
    func stranger() {
        var rig = Rig()
        rig.bring(to: .paid)
        let before = rig.books
        for user in [1, 2] {
            let other = Step.Action.refund(session: 0, user: user, key: 0, amount: nil)
            #expect(rig.take(other) == .refused(Refusal(.forbidden)))
        }
        #expect(rig.books == before)
    }

    @Test("parts never come to more than was paid")
    func parts() {
        var rig = Rig()
        rig.bring(to: .paid)
        #expect(rig.take(part(2, key: 0)).reason == nil)
        #expect(rig.take(part(4, key: 1)).reason == .refundTooLarge)
        let rest = rig.take(.refund(session: 0, user: 0, key: 2, amount: nil)).refund
        guard case .refunded(let made)? = rest?.refund.outcome else {
            Issue.record("the rest did not go back")
            return
        }
        #expect(made.amount == 3 && made.total == 5 && made.newBalance == 10)
        #expect(rig.balance(of: 0) == 10 && rig.balance(of: 1) == 10)
        let again = Step.Action.refund(session: 0, user: 0, key: 2, amount: 1)
        #expect(rig.take(again).reason == .keyReused)
        #expect(rig.books.complaint == nil)
    }

    @Test("a payee who has spent the money cannot give it back, and a later try needs a new key")
    func broke() {
        var rig = Rig()
        rig.bring(to: .paid)
        rig.take(.create(session: 1, payee: 2, amount: 12, seconds: 300, proposesTaken: false))
        rig.take(.lock(session: 1, user: 0))
        rig.take(.send(session: 1, user: 0, key: 0, expected: nil))
        let declined = Refusal(.insufficientBalance, required: 5, available: 3)
        #expect(rig.take(whole).refund?.refund.outcome == .declined(declined))
        rig.take(.refund(session: 1, user: 2, key: 0, amount: nil))
        #expect(rig.take(whole).refund?.refund.outcome == .declined(declined))
        #expect(rig.take(.refund(session: 0, user: 0, key: 1, amount: nil)).reason == nil)
        #expect(rig.books.complaint == nil)
    }

    @Test("two refunds of everything in one batch: one wins")
    func both() {
        var rig = Rig()
        rig.bring(to: .paid)
        let steps = [whole, .refund(session: 0, user: 0, key: 1, amount: nil)]
        let commands = steps.enumerated().map {
            Step(time: rig.time, action: $1).command(number: 50 + $0)
        }
        let decision = apply(commands, to: rig.books.load(Footprint(commands)))
        #expect(decision.answers.map(\.reason) == [nil, .sessionRefunded])
        #expect(decision.effects.newTransfers.count == 1)
    }

    @Test("a refund's key and an equal key of a payment are two keys")
    func keys() {
        var rig = Rig()
        rig.bring(to: .paid)
        rig.take(.create(session: 1, payee: 1, amount: 1, seconds: 300, proposesTaken: false))
        rig.take(.lock(session: 1, user: 0))
        #expect(rig.take(.send(session: 1, user: 0, key: 0, expected: nil)).reason == nil)
        #expect(rig.take(whole).refund?.isReplay == false)
    }
}
