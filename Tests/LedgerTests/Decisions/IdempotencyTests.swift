import GotchuCore
import Ledger
import LedgerTestSupport
import Payments
import Testing

/// Payments whose key is used again: each key has one payment and one answer.
@Suite("Idempotency")
struct IdempotencyTests {
    @Test("A resend gets the same answer and moves nothing, even ten years later")
    func resend() {
        var rig = Rig()
        rig.bring(to: .locked)
        let first = rig.submit(.send(session: 0, user: 1, key: 0, expected: 5))
        let before = rig.books
        rig.time += 10 * 365 * 24 * 3_600_000
        let second = rig.submit(.send(session: 0, user: 1, key: 0, expected: 5))
        #expect(first.payment != nil && first.outcome == second.outcome)
        #expect(first.requestID == second.requestID)
        #expect(!first.isReplay && second.isReplay)
        #expect(rig.books == before)
        #expect(rig.balance(of: 1) == 5)
    }

    @Test("A refused payment stays refused under its key after new funds, and a new key succeeds")
    func refusedStaysRefused() {
        var rig = Rig()
        rig.submit(.create(session: 0, payee: 0, amount: 11, seconds: 300, proposesTaken: false))
        rig.submit(.lock(session: 0, user: 1))
        let send = Step.Action.send(session: 0, user: 1, key: 0, expected: nil)
        let refusal = Refusal(.insufficientBalance, required: 11, available: 10)
        let first = rig.submit(send)
        #expect(first.refusal == refusal && first.isRemembered && !first.isReplay)
        rig.submit(.create(session: 1, payee: 1, amount: 1, seconds: 300, proposesTaken: false))
        rig.submit(.lock(session: 1, user: 2))
        rig.submit(.send(session: 1, user: 2, key: 0, expected: nil))
        #expect(rig.balance(of: 1) == 11)
        let second = rig.submit(send)
        #expect(second.refusal == refusal && second.isReplay)
        #expect(rig.submit(.send(session: 0, user: 1, key: 1, expected: nil)).payment != nil)
        #expect(rig.balance(of: 1) == 0)
    }

    @Test(
        "A key used with any other parameter is refused and changes nothing",
        arguments: [
            Step.Action.send(session: 1, user: 1, key: 0, expected: 5),
            Step.Action.send(session: 0, user: 1, key: 0, expected: 6),
            Step.Action.send(session: 0, user: 1, key: 0, expected: nil),
        ]
    )
    func reused(other: Step.Action) {
        var rig = Rig()
        rig.bring(to: .locked)
        rig.submit(.send(session: 0, user: 1, key: 0, expected: 5))
        let before = rig.books
        let answer = rig.submit(other)
        #expect(answer.refusal == Refusal(.keyReused) && !answer.isRemembered)
        #expect(rig.books == before)
    }

    @Test("A key with a remembered refusal is refused as reused if it is sent with another amount")
    func reusedAfterRefusal() {
        var rig = Rig()
        rig.bring(to: .advertising)
        let first = rig.submit(.send(session: 0, user: 1, key: 0, expected: 5))
        #expect(first.reason == .sessionNotLocked && first.isRemembered)
        let before = rig.books
        let other = rig.submit(.send(session: 0, user: 1, key: 0, expected: 6))
        #expect(other.refusal == Refusal(.keyReused) && !other.isReplay)
        #expect(rig.books == before)
    }

    @Test("Two users can use equal keys for two payments")
    func otherUser() {
        var rig = Rig()
        rig.bring(to: .locked)
        rig.submit(.send(session: 0, user: 1, key: 0, expected: nil))
        rig.submit(.create(session: 1, payee: 0, amount: 5, seconds: 300, proposesTaken: false))
        rig.submit(.lock(session: 1, user: 2))
        let other = rig.submit(.send(session: 1, user: 2, key: 0, expected: nil))
        #expect(other.payment != nil && !other.isReplay)
        #expect(rig.balance(of: 2) == 5)
    }

    @Test("A key that is sent twice in one batch charges once")
    func twiceInABatch() {
        var rig = Rig()
        rig.bring(to: .locked)
        let send = Step.Action.send(session: 0, user: 1, key: 0, expected: nil)
        let commands = [rig.submission(of: send), rig.submission(of: send)]
        let effects = rig.commit(commands)
        #expect(effects.transfers.count == 1 && effects.answers.count == 1)
        let (first, second) = (commands[0].answer, commands[1].answer)
        #expect(first?.payment != nil && first?.payment == second?.payment)
        #expect(first?.requestID == second?.requestID)
        #expect(first?.isReplay == false && second?.isReplay == true)
    }

    @Test("A payment of one's own session is refused without being remembered")
    func ownSessionIsNotRemembered() {
        var rig = Rig()
        rig.bring(to: .locked)
        let before = rig.books
        let own = rig.submit(.send(session: 0, user: 0, key: 0, expected: nil))
        #expect(own.refusal == Refusal(.ownSession) && !own.isRemembered)
        #expect(rig.books == before)
    }
}
