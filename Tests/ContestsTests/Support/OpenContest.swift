import GotchuCore
import Ledger
import LedgerTestSupport
import Payments
import Testing

@testable import Contests

/// An open contest, and its ledger.
struct OpenContest {
    private static let organizer = ContestBooks.users[0]
    let id: RecordID
    var books: ContestBooks

    init(
        review: Int64 = 0,
        ends: Timestamp? = nil,
        most: Int64 = 20,
        opening: Int64 = 2000
    ) throws {
        id = RecordID.make(at: Sample.start)
        books = try ContestBooks(opening: opening)
        let create = CreateContest(
            id: id,
            organizer: Self.organizer,
            terms: Sample.terms(
                most: most,
                tiers: [Sample.tier(1, 1, 10_000)],
                review: review,
                ends: ends
            ),
            invitation: nil
        )
        try books.submit(create, by: Self.organizer, at: Sample.start)
        let publish = PublishContest(contest: id, organizer: Self.organizer)
        try books.submit(publish, by: Self.organizer, at: Sample.start)
    }

    var contest: Contest { get throws { try #require(try books.contest(id)) } }

    @discardableResult
    mutating func join(
        _ user: Int,
        at time: Timestamp = Sample.start
    ) throws -> Refusal.Reason? {
        let user = ContestBooks.users[user]
        let join = JoinContest(contest: id, user: user, expectedFee: 500, invitation: nil)
        return try books.submit(join, by: user, at: time)?.reason
    }

    mutating func leave(_ user: Int, at time: Timestamp = Sample.start) throws {
        let user = ContestBooks.users[user]
        let leave = LeaveContest(contest: id, user: user)
        try #require(try books.submit(leave, by: user, at: time)?.reason == nil)
    }

    @discardableResult
    mutating func score(
        _ points: Int64,
        after base: Int64,
        at time: Timestamp
    ) throws -> Refusal.Reason? {
        let scores = [Sample.score(1, points)]
        let score = ScoreContest(contest: id, organizer: Self.organizer, base: base, scores: scores)
        return try books.submit(score, at: time)?.reason
    }

    @discardableResult
    mutating func complete(_ revision: Int64, at time: Timestamp) throws -> Refusal.Reason? {
        let complete = try books.complete(id, by: Self.organizer, revision: revision)
        return try books.submit(complete, at: time)?.reason
    }

    @discardableResult
    mutating func settle(at time: Timestamp, key: String? = nil) throws -> StepAnswer? {
        let settle = SettleContest(contest: id, organizer: Self.organizer)
        return try books.submit(settle, by: Self.organizer, at: time, key: key)
    }

    /// Sweeps four times, enough for every step that can be due: one sweep does one step.
    mutating func sweep(at time: Timestamp) throws {
        for _ in 0..<4 { try books.submit(SweepContest(contest: id), at: time) }
    }

    /// Corrupts the contest's count of entries, bypassing the ledger's commands.
    mutating func spoil(by count: Int64) throws {
        var contest = try contest
        contest.body.entryCount += count
        let record = contest.record
        books.spoil { $0.records[record.id] = record }
    }
}
