import TestSupport
import Testing

@testable import GotchuCore

@Suite("The payment flow")
struct PaymentFlowTests {
    private typealias Action = MoneyFlowAction<PaymentFlow.Call, PaymentFlow.Progress>

    private let refusal = Decline(code: "SESSION_BUSY", detail: "Another payer was first.")
    private let receipt = Receipt(newBalanceCents: 5000, transferID: "t")
    private let done = MoneyFlowEvent.answered(.done(Receipt()))
    private let silence = MoneyFlowEvent.answered(.unknown(retryAfter: nil))

    /// Returns the last action of a flow after these events.
    private func last(
        from progress: PaymentFlow.Progress,
        _ events: MoneyFlowEvent...
    ) -> MoneyFlowAction<PaymentFlow.Call, PaymentFlow.Progress> {
        var flow = PaymentFlow(from: progress)
        var action = flow.handle(.started, jitter: 0)
        for event in events { action = flow.handle(event, jitter: 0) }
        return action
    }

    @Test("A payment locks the session, journals, sends, journals the result and then ends")
    func paid() {
        let paid = MoneyFlowEvent.answered(.done(receipt))
        #expect(last(from: .locking) == .call(.lock))
        #expect(last(from: .locking, done) == .journal(.open(.sending)))
        #expect(last(from: .locking, done, .journalled) == .call(.send))
        #expect(last(from: .locking, done, .journalled, paid) == .journal(.ended(.paid(receipt))))
        #expect(
            last(from: .locking, done, .journalled, paid, .journalled) == .finish(.paid(receipt))
        )
    }

    @Test("A send without an answer is repeated until there is a definite answer")
    func unknown() {
        var flow = PaymentFlow(from: .sending)
        #expect(flow.handle(.started, jitter: 0) == .call(.send))
        for _ in 0..<50 {
            guard case .wait(_, because: .noAnswer) = flow.handle(silence, jitter: 0) else {
                Issue.record("a send without an answer must be waited for")
                return
            }
            #expect(flow.handle(.waited(elapsed: .zero), jitter: 0) == .call(.send))
        }
        #expect(flow.handle(.answered(.refused(refusal)), jitter: 0) == .call(.unlock))
        #expect(flow.handle(silence, jitter: 0) == .journal(.ended(.declined(refusal))))
    }

    @Test("A refused token ends a payment only while no send can have succeeded")
    func unauthorized() {
        let refused = MoneyFlowEvent.answered(.unauthorized(refusal))
        #expect(last(from: .locking, refused) == .journal(.ended(.declined(refusal))))
        #expect(last(from: .locking, done, .journalled, refused) == .call(.unlock))
        guard case .wait(_, because: .unauthorized(refusal)) = last(from: .sending, refused) else {
            Issue.record("the earlier send may have moved money")
            return
        }
    }

    @Test("An unanswered lock call is repeated until the session ends, and the lock is released")
    func expired() {
        var flow = PaymentFlow(from: .locking)
        var action = flow.handle(.started, jitter: 0)
        var waited = Duration.zero
        while action == .call(.lock) {
            guard case .wait(let duration, because: .noAnswer) = flow.handle(silence, jitter: 0)
            else {
                Issue.record("a lock without an answer must be waited for")
                return
            }
            waited += duration
            action = flow.handle(.waited(elapsed: waited), jitter: 0)
        }
        #expect(waited >= PaymentFlow.maximumSessionLifetime)
        #expect(action == .call(.unlock))
        guard case .journal(.ended(.declined(let why))) = flow.handle(silence, jitter: 0) else {
            Issue.record("a payment that sent nothing is declined")
            return
        }
        #expect(why.code == "SESSION_EXPIRED")
    }

    @Test("A cancelled payment releases a lock that it may hold, and makes no other call")
    func cancelled() {
        let end = MoneyFlowAction<PaymentFlow.Call, PaymentFlow.Progress>
            .finish(.declined(.cancelled))
        #expect(last(from: .locking, silence, .cancelled) == .call(.unlock))
        #expect(last(from: .locking, done, .cancelled) == .call(.unlock))
        #expect(last(from: .locking, done, .cancelled, silence, .cancelled) == end)
        let other = MoneyFlowEvent.answered(.notSent(.otherLogin))
        #expect(last(from: .locking, other, .cancelled, .cancelled) == end)
        let busy = MoneyFlowEvent.answered(.refused(refusal))
        #expect(last(from: .locking, busy, .cancelled) == end)
    }

    @Test("A call that was not made does not change the certainty of a payment's outcome")
    func notAsked() {
        let other = MoneyFlowEvent.answered(.notSent(.otherServer))
        let refused = MoneyFlowEvent.answered(.refused(Decline(code: "FORBIDDEN", detail: "No.")))
        for events in [[MoneyFlowEvent](), [other, .waited(elapsed: .zero)]] {
            var flow = PaymentFlow(from: .locking)
            for event in [.started, done, .journalled] + events {
                _ = flow.handle(event, jitter: 0)
            }
            #expect(flow.handle(refused, jitter: 0) == .call(.unlock))
        }
        guard case .wait(_, because: .otherServer) = last(from: .sending, other) else {
            Issue.record("only the server of the earlier send can decide")
            return
        }
        #expect(last(from: .sending, other, .waited(elapsed: .zero), refused) == .call(.lookUp))
    }

    @Test("A payment waits if a step cannot be journalled, but a paid end is published at once")
    func journalFails() {
        guard case .wait(_, because: .journal) = last(from: .locking, done, .journalFailed) else {
            Issue.record("the next start would repeat the older step")
            return
        }
        #expect(last(from: .locking, done, .journalFailed, .waited(elapsed: .zero)) == .call(.lock))
        let busy = MoneyFlowEvent.answered(.refused(refusal))
        guard case .wait(_, because: .journal) = last(from: .locking, busy, .journalFailed) else {
            Issue.record("a refusal is reported only once journalled")
            return
        }
        let again = last(from: .locking, busy, .journalFailed, .waited(elapsed: .zero))
        #expect(again == .journal(.ended(.declined(refusal))))
        let paid = MoneyFlowEvent.answered(.done(receipt))
        #expect(last(from: .sending, paid, .journalFailed) == .finish(.paid(receipt)))
    }

    @Test("After a send without an answer, only a decision on the key ends a payment")
    func doorRefusals() {
        for code in ["FORBIDDEN", "NOT_FOUND", "METHOD_NOT_ALLOWED", "SOME_GATEWAYS"] {
            let door = Decline(code: code, detail: "Not here.")
            let refused = MoneyFlowEvent.answered(.refused(door))
            #expect(last(from: .sending, refused) == .call(.lookUp))
            guard case .wait(_, because: .refused(door)) = last(from: .sending, refused, silence)
            else {
                Issue.record("\(code) says nothing about the earlier send")
                return
            }
            #expect(last(from: .sending, refused, silence, .waited(elapsed: .zero)) == .call(.send))
            #expect(last(from: .locking, done, .journalled, refused) == .call(.unlock))
        }
    }

    @Test("An answer that the server stored under the key ends a payment whose answer was lost")
    func replayed() {
        let gone = Decline(code: "NOT_FOUND", detail: "There is no such session.")
        let refused = MoneyFlowEvent.answered(.refused(gone))
        let replay = MoneyFlowEvent.answered(.refused(gone, isReplay: true))
        for events in [[replay], [refused, replay]] {
            var flow = PaymentFlow(from: .sending)
            var action = flow.handle(.started, jitter: 0)
            for event in events { action = flow.handle(event, jitter: 0) }
            #expect(action == .call(.unlock))
            guard case .journal(.ended(.declined(let why))) = flow.handle(done, jitter: 0) else {
                Issue.record("the server has decided on the key")
                return
            }
            #expect(why.code == "NOT_FOUND" && why.detail.contains("backup"))
        }
        let paid = MoneyFlowEvent.answered(.done(receipt))
        #expect(last(from: .sending, refused, paid) == .journal(.ended(.paid(receipt))))
    }

    @Test(
        "With random answers, each send follows its journal record, and no declined payment is paid"
    )
    func anything() async {
        var world = World(random: SeededGenerator("anything"))
        for index in 0..<20_000 {
            if index.isMultiple(of: 64) { await Task.yield() }
            world.begin()
            var flow = PaymentFlow(from: .locking)
            var event = MoneyFlowEvent.started
            for _ in 0..<40 {
                let action = flow.handle(event, jitter: 0.5)
                if case .finish(let end) = action {
                    if case .paid = end {
                        #expect(world.isPaid)
                    } else {
                        // The end must be in the journal, or the next start would continue the
                        // payment.
                        #expect(!world.isPaid && world.journal.end == end)
                    }
                    break
                }
                event = world.carryOut(action)
            }
        }
    }

    /// A simulated server with random answers, and a simulated journal that may fail.
    private struct World {
        var random: SeededGenerator
        private(set) var isPaid = false
        private(set) var journal = MoneyStage<PaymentFlow.Progress>.open(.locking)
        /// A Boolean that is true once a send got no answer.
        private var isUncertain = false
        private let refusal = Decline(code: "SESSION_BUSY", detail: "Another payer was first.")

        init(random: SeededGenerator) {
            self.random = random
        }

        mutating func begin() {
            isPaid = false
            isUncertain = false
            journal = .open(.locking)
        }

        private mutating func flip(_ oneIn: Int) -> Bool {
            Int.random(in: 0..<oneIn, using: &random) == 0
        }

        mutating func carryOut(_ action: Action) -> MoneyFlowEvent {
            switch action {
            case .call(.lock), .call(.unlock): return .answered(anyAnswer())
            case .call(.lookUp): return .answered(lookUp())
            case .call(.send):
                #expect(journal == .open(.sending))
                let answer = send()
                if case .unknown = answer { isUncertain = true }
                return .answered(answer)
            case .journal(let stage):
                if journal.end?.isCancellation == true { return .cancelled }
                if flip(5) { return .journalFailed }
                journal = stage
                return .journalled
            case .wait:
                guard journal == .open(.locking), flip(8) else { return .waited(elapsed: .zero) }
                journal = .ended(.declined(.cancelled))
                return .cancelled
            case .finish: preconditionFailure("nothing follows an end")
            }
        }

        private mutating func anyAnswer() -> PaymentAnswer {
            switch Int.random(in: 0..<5, using: &random) {
            case 0: .refused(refusal)
            case 1: .unauthorized(refusal)
            case 2: .unknown(retryAfter: nil)
            case 3: .notSent(.otherLogin)
            default: .done(Receipt())
            }
        }

        /// Returns the server's decision on the key, a refused login or no answer.
        private mutating func lookUp() -> PaymentAnswer {
            switch Int.random(in: 0..<3, using: &random) {
            case 0: .unauthorized(refusal)
            case 1: .unknown(retryAfter: nil)
            default: isPaid ? .done(Receipt()) : .unknown(retryAfter: nil)
            }
        }

        /// Returns a random answer to a send. A paid session is never answered with the ledger's
        /// refusal.
        private mutating func send() -> PaymentAnswer {
            if flip(6) { return .notSent(.otherLogin) }
            if flip(6), isUncertain {
                return .refused(Decline(code: "NOT_FOUND", detail: "Not here."))
            }
            if flip(6) { return .unauthorized(refusal) }
            if flip(6), !isPaid { return .refused(refusal) }
            if flip(6) { return .unknown(retryAfter: nil) }
            isPaid = true
            return flip(2) ? .unknown(retryAfter: nil) : .done(Receipt())
        }
    }
}

extension MoneyOutcome {
    fileprivate var isCancellation: Bool { self == .declined(.cancelled) }
}
