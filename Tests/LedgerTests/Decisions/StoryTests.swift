import GotchuCore
import Ledger
import LedgerTestSupport
import TestSupport
import Testing

/// Random stories told to the decisions, one by one and as batches, and to the model.
@Suite("Any sequence of commands")
struct StoryTests {
    /// Together at least 24,000 stories, in shards that run beside each other.
    private static let shards = 8
    private static let storiesPerShard = 3_000 * effort

    @Test("conserves money, agrees with the model, and comes to the same as a batch")
    func stories() async {
        var reached: Set<String> = []
        // The rarest outcome comes a few times in a round, and by chance not at all.
        for round in 0..<16 where !Self.outcomes.isSubset(of: reached) {
            await withTaskGroup(of: Set<String>.self) { group in
                for shard in 0..<Self.shards {
                    group.addTask { await Self.tell(round * Self.shards + shard) }
                }
                for await outcomes in group { reached.formUnion(outcomes) }
            }
        }
        // Stories that never get anywhere would prove nothing.
        #expect(Self.outcomes.subtracting(reached) == [], "seed \(runSeed)")
    }

    /// Tells one shard's stories, up to the first that is wrong.
    private static func tell(_ shard: Int) async -> Set<String> {
        var teller = StoryTeller(seed: runSeed &+ UInt64(shard) &* 1_000_003)
        let start = opened
        var reached: Set<String> = []
        for number in 0..<storiesPerShard {
            // Tests of programs wait for the same few threads.
            if number.isMultiple(of: 16) { await Task.yield() }
            let story = teller.story()
            if let complaint = complaint(about: story, from: start, &reached) {
                Issue.record(
                    "seed \(runSeed), shard \(shard), story \(number): \(complaint)\n\(story)"
                )
                break
            }
        }
        return reached
    }

    private static let outcomes: Set<String> = {
        let reasons: [Refusal.Reason] = [
            .unknownUser, .unknownSession, .ownSession, .sessionBusy, .sessionNotLocked,
            .sessionPaid, .sessionCancelled, .sessionExpired, .unknownEID, .noFreeEID,
        ]
        let declined: [Refusal.Reason] = [
            .unknownSession, .sessionBusy, .sessionNotLocked, .sessionPaid, .sessionCancelled,
            .sessionExpired, .amountChanged, .insufficientBalance, .sessionNotPaid,
            .sessionRefunded, .refundTooLarge,
        ]
        return Set(
            reasons.map { "no \($0)" } + ["no forbidden", "no keyReused"]
                + declined.flatMap { ["declined \($0)", "declined again \($0)"] }
                + ["paid", "paid again", "rotated", "refunded", "refunded again"]
        )
    }()

    /// Two of the three users have wallets; the third may get one in a story.
    private static let opened: (books: MemoryBooks, model: ReferenceModel) = {
        var books = MemoryBooks()
        var model = ReferenceModel()
        for user in 0..<2 {
            let step = Step(time: 0, action: .open(user: user))
            _ = model.take(step)
            books.save(apply([step.command(number: -1)], to: books.rows).effects)
        }
        return (books, model)
    }()

    private static func complaint(
        about story: [Step],
        from start: (books: MemoryBooks, model: ReferenceModel),
        _ reached: inout Set<String>
    ) -> String? {
        var (books, model) = start
        var answers: [Answer] = []
        var events: [SessionEvent] = []
        let commands = story.enumerated().map { $1.command(number: $0) }
        for (step, command) in zip(story, commands) {
            let decision = apply([command], to: books.rows)
            let expected = model.take(step)
            let reply = ReferenceModel.Reply(decision.answers[0])
            guard reply == expected else { return "\(step): got \(reply), expected \(expected)" }
            reached.insert(name(of: reply))
            if let trace = trace(of: decision) { return "\(step): \(trace)" }
            books.save(decision.effects)
            answers += decision.answers
            events += decision.effects.newEvents
        }
        if let complaint = books.complaint { return complaint }
        if let complaint = outboxComplaint(events, books) { return complaint }
        if let difference = difference(between: books, and: model) { return difference }

        var batched = start.books
        let decision = apply(commands, to: batched.load(Footprint(commands)))
        batched.save(decision.effects)
        guard decision.answers == answers else { return "the batch answered otherwise" }
        guard batched == books else { return "the batch left other rows" }
        guard decision.effects.newEvents == events else { return "the batch told otherwise" }
        return nil
    }

    private static func name(of reply: ReferenceModel.Reply) -> String {
        switch reply {
        case .user: "user"
        case .deal: "session"
        case .rotated: "rotated"
        case .refunded(_, _, _, let again): again ? "refunded again" : "refunded"
        case .paid(_, let again): again ? "paid again" : "paid"
        case .declined(let reason, let again): "declined \(again ? "again " : "")\(reason)"
        case .no(let reason): "no \(reason)"
        }
    }

    /// What a refused command wrote besides its remembered answer.
    private static func trace(of decision: Decision) -> String? {
        var effects = decision.effects
        switch decision.answers[0] {
        case .refused: break
        case .send(let answer):
            guard case .declined = answer.send.outcome else { return nil }
            effects.newSends = []
        case .refund(let answer):
            guard case .declined = answer.refund.outcome else { return nil }
            effects.newRefunds = []
        case .user, .session, .rotation, .done, .held: return nil
        }
        return effects.isEmpty ? nil : "a refused command left a trace"
    }

    /// Who is told about sessions is told of every end and every refund, once.
    private static func outboxComplaint(_ events: [SessionEvent], _ books: MemoryBooks) -> String? {
        guard Set(events.map(\.id)).count == events.count else { return "an event happened twice" }
        for session in books.rows.sessions.values {
            let own = events.filter { $0.session.id == session.id }
            let ends = own.filter { $0.kind != .refunded }.map(\.kind)
            let expected: [SessionEvent.Kind] =
                switch session.state {
                case .created, .advertising, .locked: []
                case .paid: [.paid]
                case .timedOut: [.expired]
                case .cancelled: [.cancelled]
                }
            guard ends == expected else { return "\(session.id) is told to end with \(ends)" }
            guard own.compactMap(\.refund).reduce(0, +) == session.refunded else {
                return "\(session.id)'s refunds are not those that are told"
            }
        }
        return nil
    }

    private static func difference(
        between books: MemoryBooks,
        and model: ReferenceModel
    ) -> String? {
        for (number, user) in Cast.users.enumerated() {
            let place = Wallet.Place(owner: .user(user), currency: .usd)
            guard books.rows.wallets[place]?.balance == model.money[number] else {
                return "user \(number) has another balance than the model says"
            }
        }
        for (number, id) in Cast.sessions.enumerated() {
            let stored = books.rows.sessions[id].map { ReferenceModel.Reply.deal($0) }
            let expected = model.deals[number].map {
                ReferenceModel.Reply.deal(mark: $0.mark, holder: $0.holder)
            }
            guard stored == expected else { return "session \(number) is not what the model says" }
        }
        for (number, eid) in Cast.eids.enumerated() {
            let holder = books.rows.sessions.values.first { $0.eid == eid }?.id
            let retired = books.rows.retiredEIDs[eid]
            let stored = (holder ?? retired?.session).flatMap(Cast.sessions.firstIndex)
                .map {
                    ReferenceModel.Name(session: $0, until: retired?.resolvesUntil.milliseconds)
                }
            guard stored == model.names[number] else { return "EID \(number) is another's" }
        }
        return nil
    }
}
