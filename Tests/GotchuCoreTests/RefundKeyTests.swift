import GotchuCore
import TestSupport
import Testing

@Suite("A refund's key")
struct RefundKeyTests {
    private let sid: SessionID

    init() throws {
        sid = try #require(SessionID(rawValue: "0198f3c1-7a5e-7c1e-9d53-0242ac120002"))
    }

    private func key(
        _ wished: Int64? = 500,
        _ amount: Int64 = 500,
        _ reference: String? = nil,
        attempt: Int = 0
    ) -> IdempotencyKey {
        .refund(of: sid, requested: wished, amount: amount, reference: reference, attempt: attempt)
    }

    @Test("The key of a known refund stays the same, because servers identify old refunds by it")
    func golden() {
        #expect(key().rawValue == "refund-b376cab272bc34b23bb2472b7b5df3b2")
        let named = key(nil, 500, "second cup", attempt: 2)
        #expect(named.rawValue == "refund-5bc4c0a39404fab9d83849da0261b277")
    }

    @Test("Different refunds and different attempts have different keys")
    func distinct() throws {
        let other = try #require(SessionID(rawValue: "0198f3c1-7a5e-7c1e-9d53-0242ac120003"))
        var keys: [IdempotencyKey] = [
            .refund(of: other, requested: 500, amount: 500, reference: nil, attempt: 0)
        ]
        for wished in [nil, 500, 5000] as [Int64?] {
            for reference in [nil, "", "a", "A", "a\n1", "unnamed", "é"] as [String?] {
                for attempt in 0..<5 {
                    keys.append(key(wished, wished ?? 500, reference, attempt: attempt))
                }
            }
        }
        keys.append(key(nil, 5000))
        #expect(Set(keys).count == keys.count)
    }

    /// A simulated server that decides once per key, with random refusals and lost answers.
    private struct World {
        enum Outcome { case made, declined }

        var decided: [IdempotencyKey: Outcome] = [:]
        var made = 0
        var random: SeededGenerator

        mutating func flip(_ oneIn: Int) -> Bool { Int.random(in: 0..<oneIn, using: &random) == 0 }

        mutating func answer(to key: IdempotencyKey) -> PaymentAnswer {
            if flip(6) { return .unknown(retryAfter: nil) }
            if flip(12) { return .refused(Decline(code: "FORBIDDEN", detail: "Not yours.")) }
            let isReplay = decided[key] != nil
            if !isReplay {
                decided[key] = flip(2) ? .made : .declined
                if decided[key] == .made { made += 1 }
            }
            if flip(6) { return .unknown(retryAfter: nil) }
            if decided[key] == .made { return .done(Receipt(wasMadeBefore: isReplay ? true : nil)) }
            let decline = Decline(code: "INSUFFICIENT_WALLET_BALANCE", detail: "Too little.")
            return .refused(decline, isReplay: isReplay)
        }
    }

    @Test(
        "A refund that is tried repeatedly is made only once, although daemons lose their state"
    )
    func anything() async {
        var world = World(random: SeededGenerator("refund keys"))
        for index in 0..<3000 {
            if index.isMultiple(of: 64) { await Task.yield() }
            world.decided = [:]
            world.made = 0
            var remembered = 0
            for press in 0..<400 {
                let wasMade = world.made > 0
                // Half of the tries start without the state of the try before.
                let (end, last) = drive(world.flip(2) ? 0 : remembered, &world)
                remembered = last
                #expect(world.made <= 1)
                if case .paid(let receipt) = end {
                    #expect(world.made == 1)
                    if !wasMade { #expect(receipt.wasMadeBefore == nil) }
                }
                if wasMade, case .declined(let why) = end { #expect(why.code == "FORBIDDEN") }
                if world.made == 1, press > 20 { break }
            }
            #expect(world.made == 1, "400 tries made no refund")
        }
    }

    /// Drives one refund to its end, with kills of the daemon and failures of its journal.
    ///
    /// - Returns: The end, which is `nil` if the daemon lost its state, and the last attempt.
    private func drive(_ attempt: Int, _ world: inout World) -> (MoneyOutcome?, Int) {
        var journal = RefundFlow.Progress(attempt: attempt)
        var flow = RefundFlow(from: journal, isResumed: false)
        var event = MoneyFlowEvent.started
        for _ in 0..<400 {
            let action = flow.handle(event, jitter: 0.5)
            if world.flip(40) { return (nil, journal.attempt) }
            if world.flip(20) {
                // The daemon is killed before the action, and starts again with its journal.
                flow = RefundFlow(from: journal, isResumed: true)
                event = .started
                continue
            }
            switch action {
            case .call(.refund):
                event = .answered(world.answer(to: key(attempt: journal.attempt)))
            case .journal(.begun(let progress)), .journal(.open(let progress)):
                guard !world.flip(4) else {
                    event = .journalFailed
                    continue
                }
                journal = progress
                event = .journalled
            case .journal(.ended): event = .journalled
            case .wait: event = .waited(elapsed: .zero)
            case .finish(let end): return (end, journal.attempt)
            }
        }
        return (nil, journal.attempt)
    }
}
