import GotchuCore
import Ledger

@testable import Contests

/// Terms, entries and scores for tests.
enum Sample {
    static let start = Timestamp(milliseconds: 1_800_000_000_000)
    static let locks = start.advanced(by: .seconds(3600))
    static let starts = locks.advanced(by: .seconds(300))

    static let halves = [
        tier(1, 1, 5000), tier(2, 3, 2500), tier(4, 10, 2500),
    ]

    static func tier(_ first: Int64, _ last: Int64, _ share: Int64) -> ContestTerms.Tier {
        ContestTerms.Tier(rankMin: first, rankMax: last, shareBPS: share)
    }

    static func template(_ type: String = "quiz") -> ContestTemplate {
        guard let template = ContestTemplate.builtIn.first(where: { $0.type == type }) else {
            preconditionFailure("a built-in template")
        }
        return template
    }

    static func terms(
        _ type: String = "quiz",
        fee: Int64 = 500,
        most: Int64 = 20,
        tiers: [ContestTerms.Tier] = halves,
        rake: Int64 = 0,
        commission: Int64 = 0,
        prize: Int64 = 0,
        review: Int64 = 0,
        ends: Timestamp? = nil,
        isPrivate: Bool = false,
        locks: Timestamp = locks,
        starts: Timestamp = starts
    ) -> ContestTerms {
        ContestTerms(
            of: template(type),
            title: "Pub quiz",
            description: "Ten rounds.",
            fee: fee,
            maxEntries: most,
            startsAt: starts,
            locksAt: locks,
            endsAt: ends,
            tiers: tiers,
            rakeBPS: rake,
            commissionBPS: commission,
            addedPrize: prize,
            reviewSeconds: review,
            isInviteOnly: isPrivate
        )
    }

    static func entry(_ number: Int64, roster: [String] = []) -> ContestEntry {
        var body = ContestEntry.Body(
            contest: RecordID(trusted: "c"),
            number: number,
            fee: 500,
            name: "Team \(number)"
        )
        body.roster = roster
        return ContestEntry(
            id: RecordID(trusted: "e\(number)"),
            user: UserID(trusted: "u\(number)"),
            joinedAt: start,
            body: body
        )
    }

    static func score(_ entry: Int64, _ points: Int64?, seconds: Int64? = nil) -> Score {
        Score(
            entry: entry,
            player: nil,
            points: points,
            values: seconds.map { ["seconds": .number($0)] }
        )
    }

    /// Returns the numbers and the prizes of ranked entries, in the order of the standings.
    ///
    /// - Parameter entries: The numbers of the entries, in the order in which they are read.
    static func prizes(
        _ pool: Int64,
        _ tiers: [ContestTerms.Tier],
        _ scores: [Score],
        entries: [Int64]? = nil
    ) -> [(number: Int64, rank: Int64, amount: Int64)] {
        let entries = (entries ?? Array(1...Int64(scores.count))).map { entry($0) }
        let terms = terms(tiers: tiers)
        let standings = Standing.ranked(entries, by: ScoreSheet([scores]), terms)
        return PrizeRules.payouts(of: pool, to: standings, tiers).map {
            ($0.standing.entry.number, $0.standing.rank ?? 0, $0.amount)
        }
    }
}
