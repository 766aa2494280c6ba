import GotchuCore
import Ledger
import LedgerTestSupport
import Payments
import TestSupport
import Testing

/// Random sequences of commands that are decided one by one, as a batch, and by a model.
@Suite("Any sequence of commands")
struct StoryTests {
    /// The number of shards, which run in parallel. A round has at least 2,000 stories.
    private static let shards = 8
    private static let storiesPerShard = 250 * effort

    @Test("Random stories conserve money, and agree with the model and with a batch")
    func stories() async {
        var reached: Set<String> = []
        // The rarest outcome occurs about once in two rounds.
        for round in 0..<64 where !Self.outcomes.isSubset(of: reached) {
            await withTaskGroup(of: Set<String>.self) { group in
                for shard in 0..<Self.shards {
                    group.addTask { await Self.runStories(round * Self.shards + shard) }
                }
                for await outcomes in group { reached.formUnion(outcomes) }
            }
        }
        // All outcomes must have occurred; otherwise the stories prove little.
        #expect(Self.outcomes.subtracting(reached) == [], "seed \(runSeed)")
    }

    /// Runs one shard's stories, up to the first wrong story, and returns the outcomes.
    private static func runStories(_ shard: Int) async -> Set<String> {
        var teller = StoryTeller(seed: runSeed &+ UInt64(shard) &* 1_000_003)
        guard let start = try? opened() else {
            Issue.record("the accounts could not be opened")
            return []
        }
        var reached: Set<String> = []
        for number in 0..<storiesPerShard {
            // Other tests need the same few threads.
            if number.isMultiple(of: 16) { await Task.yield() }
            let story = teller.story()
            let complaint: String?
            do {
                complaint = try Self.complaint(about: story, from: start, &reached)
            } catch {
                complaint = "a row cannot be read: \(error)"
            }
            if let complaint {
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
        let remembered: [Refusal.Reason] = [
            .unknownSession, .sessionBusy, .sessionNotLocked, .sessionPaid, .sessionCancelled,
            .sessionExpired, .amountChanged, .tipNotAllowed, .insufficientBalance,
            .sessionNotPaid, .sessionRefunded, .refundTooLarge,
        ]
        return Set(
            reasons.map { "refused \($0)" } + ["refused forbidden", "refused keyReused"]
                + remembered.flatMap { ["remembered \($0)", "remembered again \($0)"] }
                + ["rotated"]
                + ["paid", "refunded"].flatMap { [$0, "\($0) again"] }
                .flatMap { [$0, "\($0) with a tip"] }
        )
    }()

    /// Returns the start of each story, with accounts of two of the three users. The third user may
    /// get an account in a story.
    private static func opened() throws -> (books: MemoryBooks, model: ReferenceModel) {
        var books = MemoryBooks()
        var model = ReferenceModel()
        for user in 0..<2 {
            let step = Step(time: 0, action: .open(user: user))
            _ = model.apply(step)
            let batch = Batch([step.submission(number: -1)], tail: books.seals.last, chain: "open")
            try books.commit(batch)
        }
        return (books, model)
    }

    private static func complaint(
        about story: [Step],
        from start: (books: MemoryBooks, model: ReferenceModel),
        _ reached: inout Set<String>
    ) throws -> String? {
        var (books, model) = start
        var answers: [StepAnswer] = []
        var tail: Seal?
        for (number, step) in story.enumerated() {
            let submitted = step.submission(number: number)
            let batch = Batch([submitted], tail: tail, chain: "steps")
            let effects = batch.decide(on: books.load(batch))
            guard let answer = submitted.answer else { return "\(step): not decided" }
            guard batch.decide(on: books.everything(for: batch)) == effects,
                submitted.answer == answer
            else { return "\(step): the rows of its footprint do not suffice" }
            let expected = model.apply(step)
            let reply = ReferenceModel.Reply(answer)
            guard reply == expected else { return "\(step): got \(reply), expected \(expected)" }
            reached.insert(name(of: reply))
            if let trace = trace(of: answer, effects) { return "\(step): \(trace)" }
            books.save(effects)
            tail = effects.seal ?? tail
            if let complaint = books.complaint(after: effects) { return "\(step): \(complaint)" }
            answers.append(answer)
        }
        if let complaint = books.complaint ?? outboxComplaint(books) { return complaint }
        if let complaint = auditComplaint(books) { return complaint }
        if let difference = difference(between: books, and: model) { return difference }

        var batched = start.books
        let submitted = story.enumerated().map { $1.submission(number: $0) }
        try batched.commit(Batch(submitted, chain: "batch"))
        let atOnce = submitted.compactMap(\.answer)
        guard atOnce == answers else { return "the batch answered otherwise" }
        if let complaint = batched.complaint { return "the batch: \(complaint)" }
        guard batched.withoutSeals == books.withoutSeals else { return "the batch left other rows" }
        return nil
    }

    private static func name(of reply: ReferenceModel.Reply) -> String {
        switch reply {
        case .user: "user"
        case .session: "session"
        case .rotated: "rotated"
        case .refunded(_, let tip, _, _, let isReplay): name("refunded", tip, isReplay)
        case .paid(_, let tip, let isReplay): name("paid", tip, isReplay)
        case .rememberedRefusal(let reason, let isReplay):
            "remembered \(isReplay ? "again " : "")\(reason)"
        case .refused(let reason): "refused \(reason)"
        }
    }

    private static func name(_ what: String, _ tip: Int64?, _ isReplay: Bool) -> String {
        what + (isReplay ? " again" : "") + (tip ?? 0 > 0 ? " with a tip" : "")
    }

    /// The unexpected effects of a refused command or a replay; `nil` if there are none.
    private static func trace(of answer: StepAnswer, _ effects: Effects) -> String? {
        if answer.isReplay { return effects.isEmpty ? nil : "a replay left a trace" }
        guard answer.refusal != nil else { return nil }
        guard effects.answers.count == (answer.isRemembered ? 1 : 0) else {
            return "a refusal has \(effects.answers.count) remembered answers"
        }
        var effects = effects
        effects.answers = []
        return effects.isEmpty ? nil : "a refused command left a trace"
    }

    /// Checks that each end of a session has exactly one event, and each refund is in an event.
    private static func outboxComplaint(_ books: MemoryBooks) -> String? {
        guard Set(books.events.map(\.id)).count == books.events.count else {
            return "an event happened twice"
        }
        for record in books.rows.records.values {
            guard let session = try? Session(record) else { return "\(record) cannot be read" }
            let own = books.events.filter { $0.record.id == record.id }
            let ends = own.map(\.kind).filter { $0 != "session.refunded" }
            let expected: [String] =
                switch session.state {
                case .created, .advertising, .locked: []
                case .paid: ["session.paid"]
                case .expired: ["session.expired"]
                case .cancelled: ["session.cancelled"]
                }
            guard ends == expected else { return "\(record.id) is told to end with \(ends)" }
            guard own.compactMap(\.amount).reduce(0, +) == session.refunded else {
                return "\(record.id)'s refunds are not those that are told"
            }
        }
        return nil
    }

    /// Checks that the rules of `verify` find no damage.
    private static func auditComplaint(_ books: MemoryBooks) -> String? {
        let rules = LedgerRules([.opening, .payment, .refund])
        let transfers = books.transfers.values
        for transfer in transfers {
            let answers = books.rows.answers.values.filter { $0.transfer == transfer.key }
            if let broken = rules.violation(transfer, storedHash: transfer.hash)
                ?? rules.violation(
                    transfer,
                    answeredBy: answers,
                    isRecorded: books.rows.records[transfer.key.record] != nil
                )
            {
                return broken
            }
        }
        let entries = Dictionary(grouping: transfers.flatMap(\.entries), by: \.account)
        for account in books.rows.accounts.values {
            var check = AccountCheck(account.key, rules)
            for entry in (entries[account.key] ?? []).sorted(by: { $0.number < $1.number }) {
                if let broken = check.add(entry) { return broken }
            }
            if let broken = check.violation(account) { return broken }
        }
        for record in books.rows.records.values {
            if let broken = RecordRule.sessions.violation(record, books.recordRows(of: record.id)) {
                return broken
            }
        }
        return nil
    }

    private static func difference(
        between books: MemoryBooks,
        and model: ReferenceModel
    ) -> String? {
        for number in Cast.users.indices {
            let account = books.rows.accounts[Cast.account(number)]
            guard account?.balance == model.money[number] else {
                return "user \(number) has another balance than the model says"
            }
            guard account?.earned ?? 0 == model.earned[number, default: 0] else {
                return "user \(number) has earned other than the model says"
            }
        }
        for (number, id) in Cast.sessions.enumerated() {
            let stored = books.rows.records[RecordID(id)].flatMap { try? Session($0) }
            let expected = model.sessions[number].map {
                ReferenceModel.Reply.session(status: $0.status, payer: $0.payer)
            }
            guard stored.map({ ReferenceModel.Reply.session($0) }) == expected,
                stored?.refunded == model.sessions[number]?.refunded,
                stored?.tip == model.sessions[number]?.tip
            else { return "session \(number) is not what the model says" }
        }
        for (number, eid) in Cast.eids.enumerated() {
            let name = books.rows.names[Session.name(of: eid)]
            let stored = name.map { name in
                ReferenceModel.Name(
                    session: Cast.sessions.firstIndex { $0.rawValue == name.target } ?? -1,
                    until: name.until?.milliseconds
                )
            }
            guard stored == model.names[number] else { return "EID \(number) is another's" }
        }
        return nil
    }
}
