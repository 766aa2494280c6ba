import Testing

@testable import GotchuCore

@Suite("The refund flow")
struct RefundFlowTests {
    private let refusal = Decline(code: "INSUFFICIENT_WALLET_BALANCE", detail: "Too little.")
    private let silence = MoneyFlowEvent.answered(.unknown(retryAfter: nil))
    private let first = RefundFlow.Progress(attempt: 0)

    /// Returns the last action of a flow after these events.
    private func last(
        isResumed: Bool = false,
        _ events: MoneyFlowEvent...
    ) -> MoneyFlowAction<RefundFlow.Call, RefundFlow.Progress> {
        var flow = RefundFlow(from: first, isResumed: isResumed)
        var action = flow.handle(.started, jitter: 0)
        for event in events { action = flow.handle(event, jitter: 0) }
        return action
    }

    @Test(
        "A refund makes one call and journals its end; a paid refund ends even if that fails"
    )
    func made() {
        let receipt = Receipt(transferID: "t", wasMadeBefore: true)
        let done = MoneyFlowEvent.answered(.done(receipt))
        #expect(last() == .call(.refund))
        #expect(last(done) == .journal(.ended(.paid(receipt))))
        #expect(last(done, .journalled) == .finish(.paid(receipt)))
        #expect(last(done, .journalFailed) == .finish(.paid(receipt)))
        // A repeated or resumed refund may have been made by its own earlier call, so it is not
        // marked as made before.
        let own = Receipt(transferID: "t")
        #expect(last(silence, .waited(elapsed: .zero), done) == .journal(.ended(.paid(own))))
        #expect(last(isResumed: true, done) == .journal(.ended(.paid(own))))
    }

    @Test("A refusal ends a refund if it decides on the key or no earlier call may have succeeded")
    func refused() {
        let door = Decline(code: "FORBIDDEN", detail: "Not yours.")
        let atDoor = MoneyFlowEvent.answered(.refused(door))
        let token = MoneyFlowEvent.answered(.unauthorized(door))
        let byKey = MoneyFlowEvent.answered(.refused(refusal))
        for refused in [atDoor, token] {
            #expect(last(refused) == .journal(.ended(.declined(door))))
        }
        for isResumed in [true, false] {
            #expect(last(isResumed: isResumed, byKey) == .journal(.ended(.declined(refusal))))
        }
        guard case .wait(_, because: .refused(door)) = last(isResumed: true, atDoor),
            case .wait(_, because: .unauthorized(door)) = last(
                silence,
                .waited(elapsed: .zero),
                token
            )
        else {
            Issue.record("an earlier call may have been carried out")
            return
        }
        let other = MoneyFlowEvent.answered(.notSent(.otherLogin))
        #expect(last(other, .waited(elapsed: .zero), atDoor) == .journal(.ended(.declined(door))))
    }

    @Test("A refusal that is not journalled is not published")
    func unwritten() {
        let byKey = MoneyFlowEvent.answered(.refused(refusal))
        guard case .wait(_, because: .journal) = last(byKey, .journalFailed) else {
            Issue.record("the next start would call again")
            return
        }
        let again = last(byKey, .journalFailed, .waited(elapsed: .zero))
        #expect(again == .journal(.ended(.declined(refusal))))
        #expect(last(byKey, .journalled) == .finish(.declined(refusal)))
    }

    @Test(
        "A key that was refused before is replaced by a journalled next key, up to a limit"
    )
    func nextKey() {
        let replay = MoneyFlowEvent.answered(.refused(refusal, isReplay: true))
        let next = MoneyFlowAction<RefundFlow.Call, RefundFlow.Progress>
            .journal(.open(RefundFlow.Progress(attempt: 1)))
        #expect(last(replay) == next)
        guard case .wait(_, because: .journal) = last(replay, .journalFailed) else {
            Issue.record("a call was made with a key that is not in the journal")
            return
        }
        #expect(last(replay, .journalFailed, .waited(elapsed: .zero)) == next)
        var flow = RefundFlow(from: first, isResumed: false)
        _ = flow.handle(.started, jitter: 0)
        for _ in 0..<RefundFlow.attemptLimit {
            _ = flow.handle(replay, jitter: 0)
            #expect(flow.handle(.journalled, jitter: 0) == .call(.refund))
        }
        #expect(flow.handle(replay, jitter: 0) == .journal(.ended(.declined(refusal))))
    }
}
