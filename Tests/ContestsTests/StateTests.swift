import GotchuCore
import Ledger
import LedgerTestSupport
import Payments
import TestSupport
import Testing

@testable import Contests

/// The answer to each command in each state, before and after each of a contest's times.
@Suite("States of contests, commands and times")
struct StateTests {
    private enum State: Int, CaseIterable {
        case draft, open, locked, live, complete, disputed, settled, cancelled, error
    }

    /// The expected answers; the columns are the states, in order.
    private static let table = """
        publish  ok          State  State  State  State    State    State  State     State
        join     unknownContest ok     Locked Locked Locked   Locked   Locked Cancelled Locked
        leave    unknownContest ok     Locked Locked Locked   Locked   Locked Cancelled Locked
        roster   unknownContest ok     Locked Locked Locked   Locked   Locked Cancelled Locked
        lock     State       ok     ok     State  State    State    State  State     State
        dispute  State       State  State  State  ok       ok       State  State     State
        renew    ok          ok     State  State  State    State    State  State     State
        delete   ok          State  State  State  State    State    ok     ok        State
        score    State       State  ok     ok     State    ok       State  State     State
        complete State       State  noScores ok     ok       ok       State  State     State
        object   unknownContest State  State  State  ok       ok       State  State     State
        settle   State       State  State  State  UnderReview Disputed ok  State     State
        cancel   ok          ok     ok     ok     ok       ok       State  ok        State
        sweep    ok          ok     ok     ok     ok       ok       ok     ok        ok
        recheck  ok          ok     ok     ok     ok       ok       ok     ok        ok
        desk     State       ok     Locked Locked Locked   Locked   Locked Cancelled Locked
        hold     unknownSession ok  Locked Locked Locked   Locked   Locked Cancelled Locked
        pay      unknownSession ok  Locked Locked Locked   Locked   Locked Cancelled Locked
        """

    private static let rows: [(command: String, answers: [String])] = table.split(separator: "\n")
        .map { line in
            let words = line.split(separator: " ").map { word in
                let isOfContest = word.first?.isUppercase ?? false
                return isOfContest ? "contest\(word)" : String(word)
            }
            return (words[0], Array(words.dropFirst()))
        }

    /// A contest in a state. Once published, it has an entrant, and another user has a hold at its
    /// desk.
    private struct Room {
        static let purposes = GroupPurposes([Split(), Desk()])
        static let now = Sample.start.advanced(by: .seconds(20))
        let id = RecordID.make(at: Sample.start)
        var books: ContestBooks
        var desk = SessionID.makeGroup(at: Sample.start)

        init(_ state: State) throws {
            books = try ContestBooks()
            let terms = Sample.terms(
                tiers: [Sample.tier(1, 1, 10_000)],
                review: 600,
                isPrivate: true
            )
            let organizer = ContestBooks.users[0]
            let create = CreateContest(
                id: id,
                organizer: organizer,
                terms: terms,
                invitation: "token"
            )
            _ = try books.submit(create, by: organizer, at: Sample.start)
            let ways: [State: [String]] = [
                .draft: [], .open: ["publish"], .locked: ["publish", "lock"],
                .live: ["publish", "lock", "score"],
                .complete: ["publish", "lock", "score", "complete"],
                .disputed: ["publish", "lock", "score", "complete", "dispute"],
                .settled: ["publish", "lock", "score", "complete", "settle"],
                .cancelled: ["publish", "cancel"],
                .error: ["publish", "lock", "score", "complete", "sweep"],
            ]
            for command in ways[state] ?? [] {
                let isSweep = command == "sweep"
                let isLate = isSweep || command == "settle"
                let time = Sample.start.advanced(by: .seconds(isLate ? 600 : 0))
                if isSweep { move(1) }
                #expect(try answer(command, at: time) == "ok", "\(state): \(command)")
                if isSweep { move(-1) }
                guard command == "publish" else { continue }
                let join = JoinContest(
                    contest: id,
                    user: ContestBooks.users[1],
                    expectedFee: 500,
                    invitation: "token"
                )
                _ = try books.submit(join, by: ContestBooks.users[1], at: Sample.start)
                let opened = try books.submit(try openDesk(), at: Sample.start)
                desk = try #require(opened?.session?.id)
                let lock = LockSession(
                    session: desk,
                    payer: ContestBooks.users[2],
                    purposes: Self.purposes
                )
                _ = try books.submit(lock, at: Sample.start)
            }
        }

        /// Changes the pot's balance without a transfer, which no command does.
        private mutating func move(_ amount: Int64) {
            let pot = Account.Key(.pot(id), .usd)
            books.spoil { rows in
                guard let account = rows.accounts[pot] else { return }
                rows.accounts[pot] = Account(
                    pot,
                    balance: account.balance + amount,
                    earned: account.earned,
                    entryCount: account.entryCount,
                    changedAt: account.changedAt
                )
            }
        }

        func openDesk() throws -> OpenDesk {
            OpenDesk(
                of: try #require(try books.contest(id)),
                by: ContestBooks.users[0],
                memo: nil,
                reference: nil,
                lifetime: .seconds(43_200),
                liveLimit: 20
            )
        }

        /// Returns `ok`, or the reason of the refusal.
        mutating func answer(_ command: String, at time: Timestamp) throws -> String {
            let users = ContestBooks.users
            let contest = try #require(try books.contest(id))
            let revision = contest.body.revision
            func change(_ change: ChangeContest.Change) -> ChangeContest {
                ChangeContest(change, contest: id, organizer: users[0])
            }
            let answer: StepAnswer?
            switch command {
            case "publish":
                let publish = PublishContest(contest: id, organizer: users[0])
                answer = try books.submit(publish, by: users[0], at: time)
            case "lock": answer = try books.submit(change(.lock), at: time)
            case "dispute": answer = try books.submit(change(.dispute(reason: "why")), at: time)
            case "renew": answer = try books.submit(change(.renewInvitation("other")), at: time)
            case "delete": answer = try books.submit(change(.delete), at: time)
            case "score":
                let score = ScoreContest(
                    contest: id,
                    organizer: users[0],
                    base: revision,
                    scores: [Sample.score(1, 7)]
                )
                answer = try books.submit(score, at: time)
            case "complete":
                let complete = try books.complete(id, by: users[0], revision: revision)
                answer = try books.submit(complete, at: time)
            case "settle":
                let settle = SettleContest(contest: id, organizer: users[0])
                answer = try books.submit(settle, by: users[0], at: time)
            case "cancel":
                let cancel = CancelContest(contest: id, organizer: users[0], reason: "rain")
                answer = try books.submit(cancel, by: users[0], at: time)
            case "sweep": answer = try books.submit(SweepContest(contest: id), at: time)
            case "recheck": answer = try books.submit(RecheckContest(contest: id), at: time)
            default: answer = try answerToEntrant(command, at: time)
            }
            return answer?.reason.map { "\($0)" } ?? "ok"
        }

        private mutating func answerToEntrant(
            _ command: String,
            at time: Timestamp
        ) throws -> StepAnswer? {
            let users = ContestBooks.users
            switch command {
            case "join":
                let join = JoinContest(
                    contest: id,
                    user: users[3],
                    expectedFee: 500,
                    invitation: "token"
                )
                return try books.submit(join, by: users[3], at: time)
            case "leave":
                let leave = LeaveContest(contest: id, user: users[1])
                return try books.submit(leave, by: users[1], at: time)
            case "roster":
                let roster = EnterRoster(contest: id, user: users[1], roster: [])
                return try books.submit(roster, at: time)
            case "object":
                let object = ObjectToContest(
                    contest: id,
                    user: users[1],
                    revision: 1,
                    text: "no"
                )
                return try books.submit(object, at: time)
            case "desk": return try books.submit(try openDesk(), at: time)
            case "hold":
                let lock = LockSession(session: desk, payer: users[3], purposes: Self.purposes)
                return try books.submit(lock, at: time)
            case "pay":
                let pay = Pay(
                    session: desk,
                    payer: users[2],
                    expectedAmount: nil,
                    purposes: Self.purposes
                )
                return try books.submit(pay, by: users[2], at: time)
            default: preconditionFailure("a command of the table")
            }
        }
    }

    @Test("Each command gets the table's answer in each state")
    func commands() throws {
        for state in State.allCases {
            let room = try Room(state)
            for (command, answers) in Self.rows {
                var trial = room
                let got = try trial.answer(command, at: Room.now)
                #expect(got == answers[state.rawValue], "\(state): \(command)")
            }
        }
        #expect(Self.rows.count == 18 && Self.rows.allSatisfy { $0.answers.count == 9 })
    }

    /// A stored state, a later time, the state at that time, and the answers that differ from the
    /// column of the state at that time.
    private static let moments: [(State, Timestamp, State, [String: String])] = {
        let expired = ["hold": "sessionExpired", "pay": "sessionExpired"]
        let unscored = ["complete": "noScores"]
        let (locks, starts) = (Sample.locks, Sample.starts)
        let early = locks.advanced(by: .milliseconds(-1))
        let lapsed = ["pay": "sessionNotLocked"]
        return [
            (.draft, early, .draft, [:]), (.draft, locks, .draft, ["publish": "contestState"]),
            (.open, early, .open, lapsed), (.open, locks, .locked, expired),
            (.open, starts.advanced(by: .milliseconds(-1)), .locked, expired),
            (.open, starts, .live, expired.merging(unscored) { $1 }),
            (.locked, starts.advanced(by: .milliseconds(-1)), .locked, [:]),
            (.locked, starts, .live, unscored), (.live, starts, .live, [:]),
            (.disputed, starts, .disputed, [:]), (.settled, starts, .settled, [:]),
            (.cancelled, starts, .cancelled, [:]), (.error, starts, .error, [:]),
            (.complete, Sample.start.advanced(by: .seconds(599)), .complete, [:]),
            (
                .complete, Sample.start.advanced(by: .seconds(600)), .complete,
                ["object": "contestState", "settle": "ok"]
            ),
        ]
    }()

    @Test(
        "Each command gets the expected answer before and at a contest's lock, start and review end"
    )
    func times() throws {
        for (state, time, later, changes) in Self.moments {
            let room = try Room(state)
            for (command, answers) in Self.rows {
                var trial = room
                let expected = changes[command] ?? answers[later.rawValue]
                let got = try trial.answer(command, at: time)
                #expect(got == expected, "\(state) at \(time.iso8601): \(command)")
            }
        }
    }

    @Test("The sweep settles a contest after its review, and cancels an abandoned contest")
    func sweep() throws {
        let patience = Contest.abandonmentDelay
        let ends: [(State, Timestamp, Contest.State)] = [
            (.complete, Sample.start.advanced(by: .seconds(599)), .complete),
            (.complete, Sample.start.advanced(by: .seconds(600)), .settled),
            (.live, Sample.starts.advanced(by: patience + .milliseconds(-1)), .live),
            (.live, Sample.starts.advanced(by: patience), .cancelled),
            (.draft, Sample.starts.advanced(by: patience), .cancelled),
            (.disputed, Sample.starts.advanced(by: patience), .cancelled),
            (.settled, Sample.starts.advanced(by: patience), .settled),
            (.error, Sample.starts.advanced(by: patience), .error),
        ]
        for (state, time, end) in ends {
            var room = try Room(state)
            #expect(try room.answer("sweep", at: time) == "ok")
            #expect(try room.books.contest(room.id)?.state == end, "\(state)")
            if state != .error { #expect(room.books.complaint == nil, "\(state)") }
        }
    }
}
