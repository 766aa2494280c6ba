package import GotchuCore
internal import Ledger

/// The terms of a contest, fixed when it is created.
package struct ContestTerms: Codable, Equatable, Sendable {
    package static let entryLimit: Int64 = 10_000
    package static let tierLimit = 20
    static let tieBreakLimit = 3
    static let feeLimit: Int64 = 100_000_000
    static let rakeLimit: Int64 = 2000
    static let maximumReviewSeconds: Int64 = 604_800
    package static let defaultReviewSeconds: Int64 = 3600
    /// The maximum time between a contest's creation and each of its dates: stakes may stay in its
    /// pot until then.
    static let maximumLeadTime: Duration = .seconds(366 * 86_400)
    /// The number of basis points in 100 %.
    package static let whole: Int64 = 10_000
    /// The maximum least common multiple of the tiers' sizes. It keeps weights within 64 bits.
    private static let multipleLimit: Int64 = 1_000_000_000

    package let template: String
    package let type: String
    package let title: String
    package let description: String
    /// The entry fee in minor units; 0 for a free contest.
    package let fee: Int64
    package let currency: Currency
    package let maxEntries: Int64
    /// In milliseconds, like `locksAt` and `endsAt`.
    package let startsAt: Int64
    package let locksAt: Int64
    package let endsAt: Int64?
    package let tiers: [Tier]
    /// The organiser's part of the fees, in basis points.
    package let rakeBPS: Int64
    /// The house's part of the organiser's part, in basis points.
    package let commissionBPS: Int64
    package let addedPrize: Int64
    /// The time for objections between `complete` and the settlement.
    package let reviewSeconds: Int64
    package let isInviteOnly: Bool
    /// The number that identifies the applicable prize rules; see `PrizeRules`.
    package let rules: Int64
    package let scoredBy: ScoredBy
    let wins: Direction
    let tieBreaks: [TieBreak]

    /// A range of ranks that share a part of the pool.
    package struct Tier: Codable, Equatable, Sendable {
        package let rankMin: Int64
        package let rankMax: Int64
        package let shareBPS: Int64

        package init(rankMin: Int64, rankMax: Int64, shareBPS: Int64) {
            self.rankMin = rankMin
            self.rankMax = rankMax
            self.shareBPS = shareBPS
        }

        var size: Int64 { rankMax - rankMin + 1 }
    }

    package enum ScoredBy: String, Codable, Sendable {
        /// Points are given to entries.
        case entry
        /// Points are given to players; an entry has the sum of its roster's.
        case rosterSum = "roster_sum"
    }

    enum Direction: String, Codable, Sendable {
        case high, low
    }

    /// A value of a score that breaks ties between equal points.
    struct TieBreak: Codable, Equatable, Sendable {
        let key: String
        let wins: Direction
    }

    package init(
        of template: ContestTemplate,
        title: String,
        description: String,
        fee: Int64,
        currency: Currency = .usd,
        maxEntries: Int64 = Self.entryLimit,
        startsAt: Timestamp,
        locksAt: Timestamp,
        endsAt: Timestamp? = nil,
        tiers: [Tier],
        rakeBPS: Int64 = 0,
        commissionBPS: Int64 = 0,
        addedPrize: Int64 = 0,
        reviewSeconds: Int64 = Self.defaultReviewSeconds,
        isInviteOnly: Bool = false
    ) {
        self.template = template.id
        type = template.type
        self.title = title
        self.description = description
        self.fee = fee
        self.currency = currency
        self.maxEntries = maxEntries
        self.startsAt = startsAt.milliseconds
        self.locksAt = locksAt.milliseconds
        self.endsAt = endsAt?.milliseconds
        self.tiers = tiers
        self.rakeBPS = rakeBPS
        self.commissionBPS = commissionBPS
        self.addedPrize = addedPrize
        self.reviewSeconds = reviewSeconds
        self.isInviteOnly = isInviteOnly
        rules = PrizeRules.current
        scoredBy = template.scoring.by
        wins = template.scoring.wins
        tieBreaks = template.scoring.tieBreaks
    }
}

extension ContestTerms {
    package var startTime: Timestamp { Timestamp(milliseconds: startsAt) }
    package var lockTime: Timestamp { Timestamp(milliseconds: locksAt) }
    package var endTime: Timestamp? { endsAt.map(Timestamp.init(milliseconds:)) }
    /// The terms that the organiser chose, as canonical JSON. It omits the terms that the template
    /// or the server sets.
    package var chosen: String {
        var members = (try? JSONReader.object(CanonicalJSON.bytes(of: self))) ?? [:]
        for name in ["type", "commissionBPS", "rules", "scoredBy", "wins", "tieBreaks"] {
            members[name] = nil
        }
        return String(decoding: CanonicalJSON.bytes(of: JSONValue.object(members)), as: UTF8.self)
    }

    /// The last of its dates.
    var lastTime: Timestamp { max(startTime, endTime ?? startTime) }
    package var review: Duration { .seconds(reviewSeconds) }

    /// The reason why these terms are invalid, as a sentence for their author; `nil` if they are
    /// valid.
    package var violation: String? {
        if let violation = limitViolation { return violation }
        guard locksAt <= startsAt else {
            return "The contest must not lock after it starts (locks_at)."
        }
        guard endsAt.map({ $0 >= startsAt }) ?? true else {
            return "The contest must not end before it starts (ends_at)."
        }
        return tierViolation
    }

    private var limitViolation: String? {
        let most = Money(minorUnits: Self.feeLimit, currency: currency)
        guard (0...Self.feeLimit).contains(fee) else {
            return "The entry fee must be from 0 to \(most) (entry_fee_cents)."
        }
        guard (2...Self.entryLimit).contains(maxEntries) else {
            return "The number of places must be from 2 to \(Self.entryLimit) (max_entries)."
        }
        guard (0...Self.rakeLimit).contains(rakeBPS) else {
            return "The organiser's part must be from 0 to \(Self.rakeLimit / 100) % (rake_bps)."
        }
        guard (0...Self.feeLimit).contains(addedPrize) else {
            return "The added prize must be from 0 to \(most) (added_prize_cents)."
        }
        guard (0...Self.maximumReviewSeconds).contains(reviewSeconds) else {
            return "The time for objections must be from 0 to \(Self.maximumReviewSeconds) seconds "
                + "(settle_after_seconds)."
        }
        return nil
    }

    private var tierViolation: String? {
        guard (1...Self.tierLimit).contains(tiers.count) else {
            return "There must be 1 to \(Self.tierLimit) prizes (tiers)."
        }
        var next: Int64 = 1
        var multiple: Int64 = 1
        for tier in tiers {
            guard tier.rankMin == next, tier.rankMax >= next, tier.rankMax <= Self.entryLimit else {
                return "The prizes' ranks must run from 1 to at most 10000 without a gap (tiers)."
            }
            guard (1...Self.whole).contains(tier.shareBPS) else {
                return "Each prize must be from 0.01 to 100 % (share_bps)."
            }
            next = tier.rankMax + 1
            multiple = Self.leastCommonMultiple(multiple, tier.size)
            guard multiple <= Self.multipleLimit else {
                return "The numbers of ranks that share a prize have too large a common multiple: "
                    + "choose rounder ones (tiers)."
            }
        }
        guard tiers.reduce(0, { $0 + $1.shareBPS }) == Self.whole else {
            return "The prizes must be 100 % together (share_bps)."
        }
        for (better, worse) in zip(tiers, tiers.dropFirst())
        where worse.shareBPS * better.size > better.shareBPS * worse.size {
            return "A rank must not be given more than the rank before it (tiers)."
        }
        return nil
    }

    static func leastCommonMultiple(_ first: Int64, _ second: Int64) -> Int64 {
        var (a, b) = (first, second)
        while b != 0 { (a, b) = (b, a % b) }
        return first / a * second
    }
}
