import GotchuCore
import Ledger
import LedgerTestSupport
import Payments
import TestSupport
import Testing

@testable import Contests

/// Contests that are misused, or whose rows are inconsistent.
@Suite("Contests at their limits")
struct LimitTests {
    private static let organizer = ContestBooks.users[0]
    private static let purposes = GroupPurposes([Split(), Desk()])

    private func day(_ day: Int) -> Timestamp {
        Sample.starts.advanced(by: .seconds(day * 86_400))
    }

    @Test("A contest that nobody completes is refunded 30 days after its last date")
    func abandoned() throws {
        var room = try OpenContest(ends: day(1))
        try room.join(1)
        try room.sweep(at: day(31).advanced(by: .milliseconds(-1)))
        #expect(try room.contest.state == .live)
        #expect(room.books.balance(of: ContestBooks.users[1]) == 1_500)
        try room.sweep(at: day(31))
        #expect(try room.contest.state == .cancelled)
        #expect(try room.contest.body.cancellation?.source == .time)
        #expect(room.books.balance(of: ContestBooks.users[1]) == 2_000)
        #expect(room.books.complaint == nil)
    }

    @Test("A result that is corrected more than 30 days after the contest is still settled")
    func lateCorrection() throws {
        let week: Int64 = 7 * 86_400
        var room = try OpenContest(review: week)
        for user in 1...2 { try room.join(user) }
        try room.sweep(at: day(0))
        try room.score(1, after: 0, at: day(1))
        try room.complete(1, at: day(29))
        let dispute = ChangeContest(
            .dispute(reason: "Q3"),
            contest: room.id,
            organizer: Self.organizer
        )
        try room.books.submit(dispute, at: day(31))
        try room.sweep(at: day(31))
        try room.score(2, after: 1, at: day(31))
        try room.sweep(at: day(31).advanced(by: .seconds(1)))
        #expect(try room.contest.state == .live)
        #expect(try room.complete(2, at: day(32)) == nil)
        try room.sweep(at: day(39))
        #expect(try room.contest.state == .settled)
        #expect(room.books.balance(of: ContestBooks.users[1]) == 2_500)
        #expect(room.books.complaint == nil)
    }

    @Test("Scores and results postpone the refund to 90 days after the last date at most")
    func postponed() throws {
        var room = try OpenContest(review: 600, ends: day(1))
        try room.join(1)
        for revision in Int64(1)...5 {
            try room.score(revision, after: revision - 1, at: day(Int(revision) * 17))
        }
        try room.sweep(at: day(91).advanced(by: .milliseconds(-1)))
        #expect(try room.contest.state == .live)
        // A result that is declared in time is still settled when its review ends.
        var declared = room
        let last = day(91).advanced(by: .seconds(-60))
        #expect(try declared.complete(5, at: last) == nil)
        try declared.sweep(at: day(91))
        #expect(try declared.contest.state == .complete)
        // A result that is disputed after that cannot be declared once more.
        var disputed = declared
        let dispute = ChangeContest(
            .dispute(reason: "wrong"),
            contest: disputed.id,
            organizer: Self.organizer
        )
        #expect(try disputed.books.submit(dispute, at: day(91))?.reason == nil)
        #expect(try disputed.complete(5, at: day(91)) == .contestState)
        try disputed.sweep(at: day(91))
        #expect(try disputed.contest.state == .cancelled)
        try declared.sweep(at: day(91).advanced(by: .seconds(600)))
        #expect(try declared.contest.state == .settled)
        try room.sweep(at: day(91))
        #expect(try room.contest.state == .cancelled)
        #expect(room.books.balance(of: ContestBooks.users[1]) == 2_000)
        #expect(room.books.complaint == nil)
    }

    @Test(
        "A settlement before the end of the review is refused, and its key can be used again later"
    )
    func review() throws {
        var room = try OpenContest(review: 600)
        try room.join(1)
        let time = Sample.starts
        try room.score(1, after: 0, at: time)
        try room.complete(1, at: time)
        let key = "settle-0123456789"
        let early = time.advanced(by: .seconds(600) - .milliseconds(1))
        let refused = try room.settle(at: early, key: key)
        #expect(refused?.reason == .contestUnderReview && refused?.isRemembered == false)
        #expect(try room.settle(at: time.advanced(by: .seconds(600)), key: key)?.reason == nil)
        #expect(try room.contest.state == .settled)
    }

    @Test("A contest's entries are read only for its organiser, and only if the command needs them")
    func strangers() throws {
        var room = try OpenContest()
        for user in 1...3 { try room.join(user) }
        try room.leave(3)
        try room.score(1, after: 0, at: Sample.starts)
        func loaded(_ command: some LedgerCommand) -> Snapshot {
            room.books.books.load(Batch([Submitted(command, at: Sample.starts)]))
        }
        let (id, stranger) = (room.id, ContestBooks.users[4])
        for snapshot in [
            loaded(try room.books.complete(id, by: stranger, revision: 1)),
            loaded(try room.books.complete(id, by: Self.organizer, revision: 1)),
            loaded(SettleContest(contest: id, organizer: stranger)),
            loaded(SettleContest(contest: id, organizer: Self.organizer)),
            loaded(CancelContest(contest: id, organizer: stranger, reason: "Rain.")),
        ] {
            #expect(snapshot.children.isEmpty && snapshot.records.count == 1)
            #expect(snapshot.accounts.isEmpty)
        }
        #expect(try room.complete(1, at: Sample.starts) == nil)
        // The wallet of a user who left is not read.
        let end = loaded(SettleContest(contest: id, organizer: Self.organizer))
        let owners = Set(end.accounts.keys.map(\.owner))
        let users = ContestBooks.users.prefix(3).map { Account.Owner.user($0) }
        #expect(owners == Set(users + [.pot(id)]))
    }

    @Test("A result is accepted in the same commit as its scores")
    func sameCommit() throws {
        var room = try OpenContest()
        try room.join(1)
        try room.score(1, after: 0, at: Sample.starts)
        let score = ScoreContest(
            contest: room.id,
            organizer: Self.organizer,
            base: 1,
            scores: [Sample.score(1, 9)]
        )
        let commands = [
            Submitted(score, at: Sample.starts),
            Submitted(
                try room.books.complete(room.id, by: Self.organizer, revision: 2),
                at: Sample.starts
            ),
        ]
        try room.books.commit(commands)
        #expect(commands.map(\.answer?.reason) == [nil, nil])
        #expect(try room.contest.state == .complete)
    }

    @Test("A contest accepts a thousand score revisions, refuses one more, and can be completed")
    func revisions() throws {
        var room = try OpenContest()
        try room.join(1)
        for base in 0..<ScoreRevision.countLimit {
            try #require(try room.score(base, after: base, at: Sample.starts) == nil)
        }
        let last = ScoreRevision.countLimit
        #expect(try room.score(1, after: last, at: Sample.starts) == .tooManyScores)
        #expect(try room.complete(last, at: Sample.starts) == nil)
    }

    @Test("A contest refuses scores over a limit of bytes, and can then be completed")
    func scoreBytes() throws {
        var room = try OpenContest()
        try room.join(1)
        let scores = (1...500).map { Sample.score($0, 1_000_000_000 - $0) }
        var refusal: Refusal.Reason?
        while refusal == nil {
            let base = try room.contest.body.revision
            let score = ScoreContest(
                contest: room.id,
                organizer: Self.organizer,
                base: base,
                scores: scores
            )
            refusal = try room.books.submit(score, at: Sample.starts)?.reason
        }
        let body = try room.contest.body
        #expect(refusal == .tooManyScores && body.revision < ScoreRevision.countLimit)
        let left = ScoreRevision.byteLimit(entries: 1) - body.scoreBytes
        #expect((0..<body.scoreBytes / body.revision + 100).contains(left))
        #expect(try room.complete(body.revision, at: Sample.starts) == nil)
    }

    @Test("A user who has left ten times cannot enter again, and other users still can")
    func leaving() throws {
        var room = try OpenContest()
        for _ in 0..<Contest.leaveLimit {
            try #require(try room.join(1) == nil)
            try room.leave(1)
        }
        #expect(try room.join(1) == .leftTooOften)
        let desk = OpenDesk(
            of: try room.contest,
            by: Self.organizer,
            memo: nil,
            reference: nil,
            lifetime: .seconds(600),
            liveLimit: 5
        )
        let sid = try #require(try room.books.submit(desk, at: Sample.start)?.session?.id)
        let user = ContestBooks.users[1]
        let lock = LockSession(session: sid, payer: user, purposes: Self.purposes)
        #expect(try room.books.submit(lock, at: Sample.start)?.reason == .leftTooOften)
        #expect(try room.join(2) == nil)
        #expect(room.books.complaint == nil)
    }

    @Test("Expired holds do not keep a contest's desk busy")
    func lapsedHolds() throws {
        var room = try OpenContest(most: 2_000)
        let desk = OpenDesk(
            of: try room.contest,
            by: Self.organizer,
            memo: nil,
            reference: nil,
            lifetime: .seconds(600),
            liveLimit: 5
        )
        let sid = try #require(try room.books.submit(desk, at: Sample.start)?.session?.id)
        var contest = try room.contest
        contest.body.holds = try (0..<Contest.holdLimit).map { number in
            Contest.Hold(
                share: try #require(SessionID(rawValue: "\(sid)-\(number + 1)")),
                user: UserID(trusted: "gone-\(number)"),
                until: Sample.start.advanced(by: .seconds(60)).milliseconds
            )
        }
        let record = contest.record
        room.books.spoil { $0.records[record.id] = record }
        let user = ContestBooks.users[1]
        let lock = LockSession(session: sid, payer: user, purposes: Self.purposes)
        let early = Sample.start.advanced(by: .seconds(59))
        #expect(try room.books.submit(lock, at: early)?.reason == .sessionBusy)
        let late = Sample.start.advanced(by: .seconds(60))
        #expect(try room.books.submit(lock, at: late)?.reason == nil)
    }

    @Test("A contest with dates in the past or more than a year ahead is refused")
    func dates() throws {
        var books = try ContestBooks()
        let year = Sample.start.advanced(by: ContestTerms.maximumLeadTime)
        let later = year.advanced(by: .milliseconds(1))
        let cases: [(ContestTerms, Timestamp, Refusal.Reason?)] = [
            (Sample.terms(), Sample.locks, .contestDates),
            (Sample.terms(ends: later), Sample.start, .contestDates),
            (Sample.terms(starts: later), Sample.start, .contestDates),
            (Sample.terms(ends: year), Sample.start, nil),
        ]
        for (terms, time, reason) in cases {
            let create = CreateContest(organizer: Self.organizer, terms: terms, invitation: nil)
            #expect(try books.submit(create, by: Self.organizer, at: time)?.reason == reason)
        }
    }

    @Test("A contest whose pot does not match its entries is stopped until a check finds a match")
    func unequal() throws {
        var room = try OpenContest()
        for user in 1...2 { try room.join(user) }
        try room.score(1, after: 0, at: Sample.starts)
        try room.complete(1, at: Sample.starts)
        try room.spoil(by: -1)
        let key = "settle-0123456789"
        let refused = try room.settle(at: Sample.starts, key: key)
        #expect(refused?.reason == .potUnequal && refused?.isRemembered == false)
        let cancel = CancelContest(contest: room.id, organizer: nil, reason: "Rain.")
        #expect(try room.books.submit(cancel, at: Sample.starts)?.reason == .potUnequal)
        #expect(try room.contest.state == .complete)
        try room.sweep(at: Sample.starts)
        #expect(try room.contest.state == .error)
        #expect(try room.contest.dueAt == nil)
        #expect(room.books.complaint != nil)
        // Settling, cancelling, scoring and completing are refused.
        for reason in [
            try room.settle(at: Sample.starts)?.reason,
            try room.books.submit(cancel, at: Sample.starts)?.reason,
            try room.score(2, after: 1, at: Sample.starts),
            try room.complete(1, at: Sample.starts),
        ] { #expect(reason == .contestState) }
        try room.books.submit(RecheckContest(contest: room.id), at: Sample.starts)
        #expect(try room.contest.state == .error)
        try room.spoil(by: 1)
        let later = Sample.starts.advanced(by: .seconds(30 * 24 * 3_600))
        try room.books.submit(RecheckContest(contest: room.id), at: later)
        #expect(try room.contest.state == .complete)
        // Nobody could object while the contest was stopped, so the review begins anew.
        let review = try room.contest.terms.review
        #expect(try room.contest.settlesAt == later.advanced(by: review))
        #expect(try room.contest.abandonedAt > later)
        #expect(try room.settle(at: later, key: key)?.reason == nil)
        #expect(try room.contest.state == .settled)
        #expect(room.books.balance(of: ContestBooks.users[1]) == 2_500)
        #expect(room.books.complaint == nil)
    }

    @Test("A cancellation records its source and time, even if its text names another source")
    func cancellation() throws {
        for organizer in [Self.organizer, nil] {
            var room = try OpenContest()
            let cancel = CancelContest(contest: room.id, organizer: organizer, reason: "ABANDONED")
            #expect(try room.books.submit(cancel, at: Sample.start)?.reason == nil)
            let cancellation = try #require(try room.contest.body.cancellation)
            #expect(cancellation.source == (organizer == nil ? .operator : .organizer))
            #expect(cancellation.reason == "ABANDONED" && cancellation.time == Sample.start)
        }
    }

    @Test("A check that finds a pot unequal to the contest's entries stops an open contest")
    func unequalBeforeLock() throws {
        var room = try OpenContest()
        try room.join(1)
        try room.spoil(by: -1)
        try room.sweep(at: Sample.start)
        #expect(try room.contest.state == .open)
        let check = SweepContest(contest: room.id, isChecking: true)
        try room.books.submit(check, at: Sample.start)
        #expect(try room.contest.state == .error)
        #expect(try room.join(2) == .contestLocked)
    }
}
