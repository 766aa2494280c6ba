import GotchuCore
import Ledger
import LedgerTestSupport
import Testing

/// One key, one payment, one answer.
@Suite("Idempotency")
struct IdempotencyTests {
    @Test("a resend gets the same answer and moves nothing, ten years later too")
    func resend() {
        var rig = Rig()
        rig.bring(to: .locked)
        let first = rig.take(.send(session: 0, user: 1, key: 0, expected: 5)).send
        let before = rig.books
        rig.time += 10 * 365 * 24 * 3_600_000
        let second = rig.take(.send(session: 0, user: 1, key: 0, expected: 5)).send
        #expect(first?.send == second?.send)
        #expect(first?.isReplay == false && second?.isReplay == true)
        #expect(rig.books == before)
        #expect(rig.balance(of: 1) == 5)
    }

    @Test("a decline stays a decline after the wallet was funded; a new key is a new try")
    func declinedStaysDeclined() {
        var rig = Rig()
        rig.take(.create(session: 0, payee: 0, amount: 11, seconds: 300, proposesTaken: false))
        rig.take(.lock(session: 0, user: 1))
        let send = Step.Action.send(session: 0, user: 1, key: 0, expected: nil)
        let declined = Refusal(.insufficientBalance, required: 11, available: 10)
        #expect(rig.take(send).send?.send.outcome == .declined(declined))
        rig.take(.create(session: 1, payee: 1, amount: 1, seconds: 300, proposesTaken: false))
        rig.take(.lock(session: 1, user: 2))
        rig.take(.send(session: 1, user: 2, key: 0, expected: nil))
        #expect(rig.balance(of: 1) == 11)
        #expect(rig.take(send).send?.send.outcome == .declined(declined))
        #expect(rig.take(.send(session: 0, user: 1, key: 1, expected: nil)).reason == nil)
        #expect(rig.balance(of: 1) == 0)
    }

    @Test(
        "a key used with any other parameter is refused and changes nothing",
        arguments: [
            Step.Action.send(session: 1, user: 1, key: 0, expected: 5),
            Step.Action.send(session: 0, user: 1, key: 0, expected: 6),
            Step.Action.send(session: 0, user: 1, key: 0, expected: nil),
        ]
    )
    func reused(other: Step.Action) {
        var rig = Rig()
        rig.bring(to: .locked)
        rig.take(.send(session: 0, user: 1, key: 0, expected: 5))
        let before = rig.books
        #expect(rig.take(other) == .refused(Refusal(.keyReused)))
        #expect(rig.books == before)
    }

    @Test("another user's equal key is another key")
    func otherUser() {
        var rig = Rig()
        rig.bring(to: .locked)
        rig.take(.send(session: 0, user: 1, key: 0, expected: nil))
        rig.take(.create(session: 1, payee: 0, amount: 5, seconds: 300, proposesTaken: false))
        rig.take(.lock(session: 1, user: 2))
        let other = rig.take(.send(session: 1, user: 2, key: 0, expected: nil)).send
        #expect(other?.isReplay == false)
        #expect(rig.balance(of: 2) == 5)
    }

    @Test("the same key twice in one batch charges once")
    func twiceInABatch() {
        var rig = Rig()
        rig.bring(to: .locked)
        let step = Step(time: rig.time, action: .send(session: 0, user: 1, key: 0, expected: nil))
        let commands = [step.command(number: 50), step.command(number: 51)]
        let decision = apply(commands, to: rig.books.load(Footprint(commands)))
        #expect(decision.effects.newTransfers.count == 1)
        #expect(decision.answers[0].send?.send == decision.answers[1].send?.send)
        #expect(decision.answers[1].send?.isReplay == true)
    }

    @Test("paying one's own session is refused without being remembered")
    func ownSessionIsNotRemembered() {
        var rig = Rig()
        rig.bring(to: .locked)
        let before = rig.books
        let own = rig.take(.send(session: 0, user: 0, key: 0, expected: nil))
        #expect(own == .refused(Refusal(.ownSession)))
        #expect(rig.books == before)
    }
}
