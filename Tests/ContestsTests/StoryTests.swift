import GotchuCore
import Ledger
import LedgerTestSupport
import Payments
import TestSupport
import Testing

@testable import Contests

@Suite("Random histories of contests")
struct StoryTests {
    private static let opening: Int64 = 2000

    @Test("The ledger agrees with the model after every step, and violates no rule at the end")
    func histories() throws {
        let states = Contest.State.allCases.filter { $0 != .error }.map { "\($0)" }
        let reasons: [Refusal.Reason] = [
            .notOrganizer, .notEntrant, .ownContest, .contestFull, .contestLocked, .alreadyJoined,
            .notJoined, .contestState, .contestCancelled, .contestDisputed, .scoresChanged,
            .noScores, .amountChanged, .insufficientBalance, .sessionExpired, .sessionNotLocked,
            .ownSession, .contestUnderReview, .unknownContest,
        ]
        var missing = Set(states + reasons.map { "\($0)" } + ["accepted"])
        var random = SeededGenerator("contests")
        var count = 0
        // Every seed must reach every state and refusal, within 3,000 histories.
        while count < 50 * effort || !missing.isEmpty && count < 3_000 {
            count += 1
            let note = "seed \(random.seed)"
            var story = try Story(using: &random)
            for _ in 0..<60 {
                let action = story.action(using: &random)
                let (expected, got) = try story.apply(action)
                try #require(expected == got, "\(note): \(action) at \(story.time)")
                try #require(story.difference == nil, "\(note): \(action)")
                missing.remove(got.map { "\($0)" } ?? "accepted")
                missing.remove("\(story.model.state)")
            }
            try #require(story.books.complaint == nil, "\(note)")
        }
        #expect(missing == [], "seed \(random.seed)")
    }

    private struct Story {
        let id = RecordID.make(at: Sample.start)
        /// The desk; `nil` before it is opened.
        var desk: SessionID?
        var books: ContestBooks
        var model: ContestModel
        var time = Sample.start

        init(using random: inout SeededGenerator) throws {
            let shares =
                [[10_000], [7000, 3000], [5000, 3000, 2000]]
                .randomElement(using: &random) ?? []
            let terms = Sample.terms(
                fee: [0, 333, 500, 900].randomElement(using: &random) ?? 0,
                most: Int64.random(in: 2...4, using: &random),
                tiers: shares.enumerated().map {
                    Sample.tier(Int64($0 + 1), Int64($0 + 1), Int64($1))
                },
                rake: [0, 1000].randomElement(using: &random) ?? 0,
                commission: 2500,
                prize: [0, 101, 5000].randomElement(using: &random) ?? 0,
                review: [0, 600].randomElement(using: &random) ?? 0
            )
            books = try ContestBooks(opening: StoryTests.opening)
            let organizer = ContestBooks.users[0]
            let create = CreateContest(
                id: id,
                organizer: organizer,
                terms: terms,
                invitation: nil
            )
            _ = try books.submit(create, by: organizer, at: time)
            model = ContestModel(
                terms,
                users: ContestBooks.users.count,
                opening: StoryTests.opening
            )
        }

        mutating func action(using random: inout SeededGenerator) -> ContestModel.Action {
            time = time.advanced(
                by: .seconds(max(0, Int.random(in: -600...900, using: &random)))
            )
            let user = Int.random(in: 0..<ContestBooks.users.count, using: &random)
            let organizer = Int.random(in: 0..<10, using: &random) == 0 ? user : 0
            let isWrong = Int.random(in: 0..<6, using: &random) == 0
            if model.isDisputed, Bool.random(using: &random) { return .settle(by: organizer) }
            let taps = model.terms.fee == 0 ? 0 : model.state == .open ? 8 : 1
            if Int.random(in: 0..<20, using: &random) < taps {
                if desk == nil { return .openDesk(by: organizer) }
                switch Int.random(in: 0..<8, using: &random) {
                case 0...3: return .hold(user)
                case 4: return .unhold(user)
                default: return .pay(model.claims.keys.min() ?? user)
                }
            }
            switch Int.random(in: 0..<17, using: &random) {
            case 0: return .publish(by: organizer)
            case 1...6: return .join(user, fee: isWrong ? 1 : model.terms.fee)
            case 7: return .leave(user)
            case 8: return .lock(by: organizer)
            case 9, 10:
                let scores = (1...max(1, model.last)).compactMap { number in
                    Bool.random(using: &random)
                        ? (number, isWrong ? nil : Int64.random(in: 0...3, using: &random))
                        : nil
                }
                return .score(by: organizer, base: model.revision + (isWrong ? 1 : 0), scores)
            case 11, 12: return .complete(by: organizer, revision: model.revision)
            case 13: return .dispute(by: organizer)
            case 14: return .object(user)
            case 15: return isWrong ? .cancel(by: organizer) : .settle(by: organizer)
            default: return .sweep
            }
        }

        /// - Returns: The refusals of the model and of the ledger; `nil` for an accepted action.
        mutating func apply(
            _ action: ContestModel.Action
        ) throws -> (expected: Refusal.Reason?, got: Refusal.Reason?) {
            let expected = model.apply(action, at: time)
            let users = ContestBooks.users
            let answer: StepAnswer?
            switch action {
            case .publish(let user):
                let publish = PublishContest(contest: id, organizer: users[user])
                answer = try books.submit(publish, by: users[user], at: time)
            case .join(let user, let fee):
                let join = JoinContest(
                    contest: id,
                    user: users[user],
                    expectedFee: fee,
                    invitation: nil
                )
                answer = try books.submit(join, by: users[user], at: time)
            case .leave(let user):
                let leave = LeaveContest(contest: id, user: users[user])
                answer = try books.submit(leave, by: users[user], at: time)
            case .lock(let user):
                let lock = ChangeContest(.lock, contest: id, organizer: users[user])
                answer = try books.submit(lock, at: time)
            case .score(let user, let base, let scores):
                answer = try score(scores, base: base, by: users[user])
            case .complete(let user, let revision):
                let complete = try books.complete(id, by: users[user], revision: revision)
                answer = try books.submit(complete, at: time)
            case .dispute(let user):
                let dispute = ChangeContest(
                    .dispute(reason: "why"),
                    contest: id,
                    organizer: users[user]
                )
                answer = try books.submit(dispute, at: time)
            case .object(let user):
                let object = ObjectToContest(
                    contest: id,
                    user: users[user],
                    revision: model.revision,
                    text: "no"
                )
                answer = try books.submit(object, at: time)
            case .settle(let user):
                let settle = SettleContest(contest: id, organizer: users[user])
                answer = try books.submit(settle, by: users[user], at: time)
            case .cancel(let user):
                let cancel = CancelContest(contest: id, organizer: users[user], reason: "rain")
                answer = try books.submit(cancel, by: users[user], at: time)
            case .sweep: answer = try books.submit(SweepContest(contest: id), at: time)
            case .openDesk, .hold, .unhold, .pay: answer = try atDesk(action)
            }
            return (expected, answer?.reason)
        }

        private mutating func score(
            _ scores: [(Int64, Int64?)],
            base: Int64,
            by organizer: UserID
        ) throws -> StepAnswer? {
            let score = ScoreContest(
                contest: id,
                organizer: organizer,
                base: base,
                scores: scores.map { Sample.score($0, $1) }
            )
            return try books.submit(score, at: time)
        }

        private mutating func atDesk(_ action: ContestModel.Action) throws -> StepAnswer? {
            let users = ContestBooks.users
            let purposes = GroupPurposes([Split(), Desk()])
            switch action {
            case .openDesk(let user):
                guard let contest = try books.contest(id) else { return nil }
                let open = OpenDesk(
                    of: contest,
                    by: users[user],
                    memo: nil,
                    reference: nil,
                    lifetime: .seconds(43_200),
                    liveLimit: 5
                )
                let answer = try books.submit(open, at: time)
                desk = answer?.session?.id
                return answer
            case .hold(let user):
                guard let desk else { return nil }
                let lock = LockSession(session: desk, payer: users[user], purposes: purposes)
                return try books.submit(lock, at: time)
            case .unhold(let user):
                guard let desk else { return nil }
                let unlock = UnlockSession(session: desk, payer: users[user], purposes: purposes)
                return try books.submit(unlock, at: time)
            case .pay(let user):
                guard let desk else { return nil }
                let pay = Pay(
                    session: desk,
                    payer: users[user],
                    expectedAmount: model.terms.fee,
                    purposes: purposes
                )
                return try books.submit(pay, by: users[user], at: time)
            default: return nil
            }
        }

        /// The difference between the model and the ledger; `nil` if they agree.
        var difference: String? {
            guard let contest = try? books.contest(id) else { return "no contest" }
            // Time may have changed the contest without a commit.
            var now = model
            now.pass(to: time)
            guard contest.asOf(time).state == now.state else {
                return "\(contest.state) is not \(now.state)"
            }
            if contest.body.entryCount != Int64(model.entries.count) { return "entries" }
            let left = max(0, Int(model.terms.maxEntries) - now.entries.count - now.holds.count)
            if contest.placesLeft(at: time) != Int64(left) { return "places" }
            if books.pot(of: id) != model.pot { return "the pot" }
            if books.take(of: ContestBooks.users[0]) != model.take { return "the take" }
            for (number, user) in ContestBooks.users.enumerated()
            where books.balance(of: user) != model.balances[number] { return "user \(number)" }
            let isOver = contest.isOver
            return isOver && model.pot != 0 ? "an end with a pot" : nil
        }
    }
}
