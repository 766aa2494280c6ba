import GotchuCore
import Ledger
import LedgerTestSupport
import Payments
import TestSupport
import Testing

@testable import Contests

/// Commands that conflict: in one batch, at one moment, or with other contests.
@Suite("Conflicting commands of contests")
struct OrderTests {
    private static let purposes = GroupPurposes([Split(), Desk()])

    /// A command of a random history.
    private enum Plan {
        case join(Int, RecordID)
        case leave(Int)
        case hold(Int)
        case pay(Int)
        case lock
        case settle
        case cancel
        case sweep
    }

    /// An open contest with a desk.
    private struct Room {
        let id: RecordID
        var books: ContestBooks
        let desk: SessionID

        init(id: RecordID, books: ContestBooks, desk: SessionID) {
            (self.id, self.books, self.desk) = (id, books, desk)
        }

        init(most: Int64 = 3, lockIn: Duration = .seconds(600)) throws {
            let id = RecordID.make(at: Sample.start)
            self.id = id
            books = try ContestBooks()
            desk = try Self.open(id, most: most, lockIn: lockIn, in: &books)
        }

        /// Creates and publishes a contest, and opens its desk.
        static func open(
            _ id: RecordID,
            most: Int64,
            lockIn: Duration,
            in books: inout ContestBooks
        ) throws -> SessionID {
            let locks = Sample.start.advanced(by: lockIn)
            let organizer = ContestBooks.users[0]
            let create = CreateContest(
                id: id,
                organizer: organizer,
                terms: Sample.terms(
                    most: most,
                    tiers: [Sample.tier(1, 1, 10_000)],
                    locks: locks,
                    starts: locks
                ),
                invitation: nil
            )
            _ = try books.submit(create, by: organizer, at: Sample.start)
            let publish = PublishContest(contest: id, organizer: organizer)
            _ = try books.submit(publish, by: organizer, at: Sample.start)
            let desk = OpenDesk(
                of: try #require(try books.contest(id)),
                by: organizer,
                memo: nil,
                reference: nil,
                lifetime: .seconds(43_200),
                liveLimit: 20
            )
            return try #require(try books.submit(desk, at: Sample.start)?.session?.id)
        }

        func submitted(_ plan: Plan, _ number: Int, at time: Timestamp) throws -> Submitted {
            func keyed(_ command: some KeyedCommand, by user: Int) throws -> Submitted {
                let request = try KeyedRequest.test(
                    user: ContestBooks.users[user],
                    key: "batch-0123456789-\(number)",
                    id: "request"
                )
                return Submitted(command, as: request, at: time)
            }
            let users = ContestBooks.users
            switch plan {
            case .join(let user, let entry):
                let join = JoinContest(
                    contest: id,
                    user: users[user],
                    entry: entry,
                    expectedFee: 500,
                    invitation: nil
                )
                return try keyed(join, by: user)
            case .leave(let user):
                return try keyed(LeaveContest(contest: id, user: users[user]), by: user)
            case .hold(let user):
                let lock = LockSession(
                    session: desk,
                    payer: users[user],
                    purposes: OrderTests.purposes
                )
                return Submitted(lock, at: time)
            case .pay(let user):
                let pay = Pay(
                    session: desk,
                    payer: users[user],
                    expectedAmount: 500,
                    purposes: OrderTests.purposes
                )
                return try keyed(pay, by: user)
            case .lock:
                let lock = ChangeContest(.lock, contest: id, organizer: users[0])
                return Submitted(lock, at: time)
            case .settle:
                return try keyed(SettleContest(contest: id, organizer: users[0]), by: 0)
            case .cancel:
                let cancel = CancelContest(contest: id, organizer: users[0], reason: "rain")
                return try keyed(cancel, by: 0)
            case .sweep: return Submitted(SweepContest(contest: id), at: time)
            }
        }
    }

    private func plan(using random: inout SeededGenerator) -> Plan {
        let user = Int.random(in: 1..<ContestBooks.users.count, using: &random)
        switch Int.random(in: 0..<15, using: &random) {
        case 0...2: return .join(user, .make(at: Sample.start, using: &random))
        case 3, 4: return .leave(user)
        case 5...7: return .hold(user)
        case 8...10: return .pay(user)
        case 11: return .settle
        case 12: return .cancel
        case 13: return Int.random(in: 0..<5, using: &random) == 0 ? .lock : .sweep
        default: return .sweep
        }
    }

    @Test(
        "Joins, taps, settlements and cancellations have the same result in a batch as one by one"
    )
    func batches() throws {
        var random = SeededGenerator("orders")
        var ends: Set<Contest.State> = []
        for _ in 0..<(60 * effort) {
            let note = "seed \(random.seed)"
            var together = try Room()
            var alone = together
            var time = Sample.start
            let scores = Int.random(in: 4...9, using: &random)
            for step in 0..<12 {
                time = time.advanced(by: .milliseconds(Int.random(in: 0...9_000, using: &random)))
                if step == scores { try score(&together, &alone, at: time) }
                let plans = (0..<Int.random(in: 1...6, using: &random)).map { _ in
                    plan(using: &random)
                }
                let commands = try plans.enumerated().map { number, plan in
                    try together.submitted(plan, step * 10 + number, at: time)
                }
                try together.books.commit(commands)
                for (number, plan) in plans.enumerated() {
                    let command = try alone.submitted(plan, step * 10 + number, at: time)
                    try alone.books.commit([command])
                    try #require(commands[number].answer == command.answer, "\(note): \(plans)")
                }
                let (one, other) = (together.books.books, alone.books.books)
                try #require(one.withoutSeals == other.withoutSeals, "\(note): \(plans)")
            }
            try #require(together.books.complaint == nil, "\(note)")
            ends.insert(try #require(try together.books.contest(together.id)).state)
        }
        #expect(ends.isSuperset(of: [.settled, .cancelled]))
    }

    /// Locks both contests, scores all their entries and completes the contests.
    private func score(_ first: inout Room, _ second: inout Room, at time: Timestamp) throws {
        let organizer = ContestBooks.users[0]
        func score(_ room: inout Room) throws {
            let (id, last) = (room.id, try room.books.contest(room.id)?.body.entryNumber ?? 0)
            let scores = (1..<(last + 1)).map { Sample.score($0, $0 % 3) }
            let lock = ChangeContest(.lock, contest: id, organizer: organizer)
            try room.books.submit(lock, at: time)
            let scored = ScoreContest(contest: id, organizer: organizer, base: 0, scores: scores)
            try room.books.submit(scored, at: time)
            let complete = try room.books.complete(id, by: organizer, revision: 1)
            try room.books.submit(complete, at: time)
        }
        try score(&first)
        try score(&second)
    }

    @Test("A command for one of five contests changes no row of the other four")
    func isolation() throws {
        var random = SeededGenerator("five contests")
        var books = try ContestBooks(opening: 50_000)
        let ids = (0..<5).map { _ in RecordID.make(at: Sample.start, using: &random) }
        var desks: [SessionID] = []
        for id in ids {
            desks.append(try Room.open(id, most: 4, lockIn: .seconds(600), in: &books))
        }
        /// Returns all rows of a contest: the contest, its desk, the children of both, and the pot.
        func rows(_ number: Int) -> [String] {
            let all = books.books.rows
            let parents = [ids[number], RecordID(desks[number])]
            let records = parents + parents.flatMap { all.children[$0, default: [:]].values }
            let pot = Account.Key(.pot(ids[number]), .usd)
            return records.sorted { $0.rawValue < $1.rawValue }
                .map { "\(all.records[$0].map { "\($0)" } ?? "")" }
                + ["\(all.accounts[pot].map { "\($0)" } ?? "")"]
        }
        var changed: Set<Int> = []
        for step in 0..<(400 * effort) {
            let time = Sample.start.advanced(by: .milliseconds(step * 500))
            let number = Int.random(in: 0..<5, using: &random)
            let before = (0..<5).map(rows)
            let room = Room(id: ids[number], books: books, desk: desks[number])
            let command = try room.submitted(plan(using: &random), step, at: time)
            try books.commit([command])
            let after = (0..<5).map(rows)
            for other in 0..<5 where other != number {
                try #require(before[other] == after[other], "seed \(random.seed), step \(step)")
            }
            if before[number] != after[number] { changed.insert(number) }
        }
        #expect(changed.count == 5)
        #expect(books.complaint == nil)
    }

    @Test("An entry is accepted in the last millisecond before the lock, and refused from then on")
    func lock() throws {
        let locks: Duration = .seconds(600)
        for (late, reason) in [(-1, nil), (0, Refusal.Reason.contestLocked), (1, .contestLocked)] {
            var room = try Room(lockIn: locks)
            let time = Sample.start.advanced(by: locks + .milliseconds(late))
            let users = ContestBooks.users
            let join = JoinContest(
                contest: room.id,
                user: users[1],
                expectedFee: 500,
                invitation: nil
            )
            #expect(
                try room.books.submit(join, by: users[1], at: time)?.reason == reason,
                "\(late)"
            )
            let lock = LockSession(session: room.desk, payer: users[2], purposes: Self.purposes)
            let held = try room.books.submit(lock, at: time)
            #expect(held?.reason == (late < 0 ? nil : .sessionExpired), "\(late)")
            let roster = EnterRoster(contest: room.id, user: users[1], roster: [])
            let entered = try room.books.submit(roster, at: time)?.reason
            #expect(entered == (late < 0 ? nil : .notJoined), "\(late)")
        }
    }
}
