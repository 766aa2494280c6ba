import GotchuCore
import TestSupport
import Testing

@Suite("The payment flow")
struct PaymentFlowTests {
    private let refusal = Decline(code: "SESSION_BUSY", detail: "Another payer was first.")
    private let receipt = Receipt(newBalanceCents: 5000, transferID: "t")

    @Test("A payment locks, journals, sends, journals, and only then has ended")
    func paid() {
        var flow = PaymentFlow(stage: .locking)
        #expect(flow.handle(.started, jitter: 0) == .lock)
        #expect(flow.handle(.lockAnswered(.done(Receipt())), jitter: 0) == .journalSending)
        #expect(flow.handle(.journalled, jitter: 0) == .send)
        #expect(
            flow.handle(.sendAnswered(.done(receipt)), jitter: 0) == .journalEnd(.paid(receipt))
        )
        #expect(flow.handle(.journalled, jitter: 0) == .finish(.paid(receipt)))
    }

    @Test("no answer to a send is asked again with the same payment, never given up")
    func unknown() {
        var flow = PaymentFlow(stage: .sending(isUncertain: false))
        #expect(flow.handle(.started, jitter: 0) == .send)
        for _ in 0..<50 {
            guard case .wait = flow.handle(.sendAnswered(.unknown(retryAfter: nil)), jitter: 0)
            else {
                Issue.record("a send without an answer must be waited for")
                return
            }
            #expect(flow.stage == .sending(isUncertain: true))
            #expect(flow.handle(.waited, jitter: 0) == .send)
        }
        #expect(
            flow.handle(.sendAnswered(.refused(refusal)), jitter: 0)
                == .journalEnd(.declined(refusal))
        )
    }

    @Test("a refused token ends a payment only while no send can have succeeded")
    func unauthorized() {
        var certain = PaymentFlow(stage: .sending(isUncertain: false))
        _ = certain.handle(.started, jitter: 0)
        #expect(
            certain.handle(.sendAnswered(.unauthorized(refusal)), jitter: 0)
                == .journalEnd(.declined(refusal))
        )
        var uncertain = PaymentFlow(stage: .sending(isUncertain: true))
        _ = uncertain.handle(.started, jitter: 0)
        guard case .wait = uncertain.handle(.sendAnswered(.unauthorized(refusal)), jitter: 0) else {
            Issue.record("the earlier send may have moved money")
            return
        }
    }

    @Test("a lock that was never answered may be given up once the session is over")
    func expired() {
        var flow = PaymentFlow(stage: .locking)
        _ = flow.handle(.started, jitter: 0)
        _ = flow.handle(.lockAnswered(.unknown(retryAfter: nil)), jitter: 0)
        guard case .journalEnd(.declined(let why)) = flow.handle(.expired, jitter: 0) else {
            Issue.record("nothing was sent, so nothing was paid")
            return
        }
        #expect(why.code == "SESSION_EXPIRED")
    }

    @Test(
        "A step that cannot be journalled is not sent, and no decline is told; paid is told anyway"
    )
    func journalFails() {
        var unsent = PaymentFlow(stage: .locking)
        _ = unsent.handle(.started, jitter: 0)
        _ = unsent.handle(.lockAnswered(.done(Receipt())), jitter: 0)
        guard case .wait = unsent.handle(.journalFailed, jitter: 0) else {
            Issue.record("the journal's older record would be driven on at the next start")
            return
        }
        #expect(unsent.stage == .locking)
        var refused = PaymentFlow(stage: .locking)
        _ = refused.handle(.started, jitter: 0)
        _ = refused.handle(.lockAnswered(.refused(refusal)), jitter: 0)
        guard case .wait = refused.handle(.journalFailed, jitter: 0) else {
            Issue.record("declined is told only once the journal has it")
            return
        }
        #expect(refused.handle(.waited, jitter: 0) == .journalEnd(.declined(refusal)))
        #expect(refused.handle(.journalled, jitter: 0) == .finish(.declined(refusal)))
        var sent = PaymentFlow(stage: .sending(isUncertain: false))
        _ = sent.handle(.started, jitter: 0)
        _ = sent.handle(.sendAnswered(.done(receipt)), jitter: 0)
        #expect(sent.handle(.journalFailed, jitter: 0) == .finish(.paid(receipt)))
    }

    @Test("after a send without an answer, only what the server decided by the key is believed")
    func doorRefusals() {
        for code in ["FORBIDDEN", "NOT_FOUND", "METHOD_NOT_ALLOWED", "SOME_GATEWAYS"] {
            let door = Decline(code: code, detail: "Not here.")
            var uncertain = PaymentFlow(stage: .sending(isUncertain: true))
            _ = uncertain.handle(.started, jitter: 0)
            #expect(uncertain.handle(.sendAnswered(.refused(door)), jitter: 0) == .lookUp)
            guard case .wait = uncertain.handle(.lookedUp(.unknown(retryAfter: nil)), jitter: 0)
            else {
                Issue.record("\(code) says nothing about the earlier send")
                return
            }
            #expect(uncertain.handle(.waited, jitter: 0) == .send)
            var certain = PaymentFlow(stage: .sending(isUncertain: false))
            _ = certain.handle(.started, jitter: 0)
            #expect(
                certain.handle(.sendAnswered(.refused(door)), jitter: 0)
                    == .journalEnd(.declined(door))
            )
        }
    }

    @Test("An answer that the server stored under the key ends a payment whose answer was lost")
    func replayed() {
        let gone = Decline(code: "NOT_FOUND", detail: "There is no such session.")
        var resent = PaymentFlow(stage: .sending(isUncertain: true))
        _ = resent.handle(.started, jitter: 0)
        let answer = PaymentAnswer.refused(gone, isReplay: true)
        guard case .journalEnd(.declined(let why)) = resent.handle(.sendAnswered(answer), jitter: 0)
        else {
            Issue.record("the key can never be charged")
            return
        }
        #expect(why.code == "NOT_FOUND" && why.detail.contains("backup"))

        var asked = PaymentFlow(stage: .sending(isUncertain: true))
        _ = asked.handle(.started, jitter: 0)
        #expect(asked.handle(.sendAnswered(.refused(gone)), jitter: 0) == .lookUp)
        guard case .journalEnd(.declined) = asked.handle(.lookedUp(answer), jitter: 0) else {
            Issue.record("the server has decided about the key")
            return
        }
        var paid = PaymentFlow(stage: .sending(isUncertain: true))
        _ = paid.handle(.started, jitter: 0)
        #expect(paid.handle(.sendAnswered(.refused(gone)), jitter: 0) == .lookUp)
        #expect(paid.handle(.lookedUp(.done(receipt)), jitter: 0) == .journalEnd(.paid(receipt)))
    }

    @Test(
        "Any answers: no send before the journal, one end, declined only if certain"
    )
    func anything() async {
        var generator = SeededGenerator("anything")
        for index in 0..<20_000 {
            if index.isMultiple(of: 64) { await Task.yield() }
            var flow = PaymentFlow(stage: .locking)
            var event = PaymentFlow.Event.started
            var journalHasSending = false
            var journalHasEnd = false
            var serverPaid = false
            for _ in 0..<40 {
                let action = flow.handle(event, jitter: 0.5)
                switch action {
                case .lock:
                    event = .lockAnswered(answer(using: &generator))
                case .lookUp:
                    event = .lookedUp(lookUp(paid: serverPaid, using: &generator))
                case .journalNextKey:
                    Issue.record("a payment's key is its own for life")
                    return
                case .journalSending:
                    journalHasSending = Int.random(in: 0..<10, using: &generator) > 0
                    event = journalHasSending ? .journalled : .journalFailed
                case .send:
                    #expect(journalHasSending)
                    let isUncertain = flow.stage == .sending(isUncertain: true)
                    event = send(
                        paid: &serverPaid,
                        isUncertain: isUncertain,
                        using: &generator
                    )
                case .journalEnd:
                    journalHasEnd = Bool.random(using: &generator)
                    event = journalHasEnd ? .journalled : .journalFailed
                case .wait:
                    event =
                        flow.stage == .locking && Bool.random(using: &generator)
                        ? .expired : .waited
                case .finish(let end):
                    if case .paid = end {
                        #expect(serverPaid)
                    } else {
                        // Otherwise the next start would go on with it.
                        #expect(!serverPaid && journalHasEnd)
                    }
                }
                if case .finish = action { break }
            }
        }
    }

    private func answer(using generator: inout SeededGenerator) -> PaymentAnswer {
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: .refused(refusal)
        case 1: .unauthorized(refusal)
        case 2: .unknown(retryAfter: nil)
        default: .done(Receipt())
        }
    }

    /// What the server knows of the key, or no answer.
    private func lookUp(paid: Bool, using generator: inout SeededGenerator) -> PaymentAnswer {
        switch Int.random(in: 0..<3, using: &generator) {
        case 0: .unauthorized(refusal)
        case 1: .unknown(retryAfter: nil)
        default: paid ? .done(receipt) : .unknown(retryAfter: nil)
        }
    }

    /// A server that remembers: once paid it answers paid, or is not heard, or asks for a login.
    private func send(
        paid: inout Bool,
        isUncertain: Bool,
        using generator: inout SeededGenerator
    ) -> PaymentFlow.Event {
        let choice = Int.random(in: 0..<6, using: &generator)
        if choice == 5, isUncertain {
            // At the door, whatever was decided. Before any send was lost it is believed.
            return .sendAnswered(.refused(Decline(code: "NOT_FOUND", detail: "Not here.")))
        }
        if choice == 0 { return .sendAnswered(.unauthorized(refusal)) }
        if choice == 1, !paid { return .sendAnswered(.refused(refusal)) }
        if choice == 2 { return .sendAnswered(.unknown(retryAfter: nil)) }
        paid = true
        return .sendAnswered(choice == 3 ? .unknown(retryAfter: nil) : .done(receipt))
    }
}
