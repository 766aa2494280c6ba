import GotchuAPI
import GotchuCore

/// The prizes that a settlement pays by rules 1, computed from a contest's documents, so that its
/// organiser sees them before.
///
/// The server's own computation decides: it is told once it is done.
struct PrizePreview {
    struct Payout {
        let standing: Leaderboard.Standing
        let cents: Int64
    }

    /// The payouts of ranked entries, in the order of the standings; their sum is the pool.
    let payouts: [Payout]

    /// - Parameters:
    ///   - pool: In minor units.
    ///   - standings: Those of all ranked entries, in their order; others are left out.
    /// - Returns: `nil` if the documents do not tell.
    init?(pool: Int64, tiers: [PayoutTier], standings: [Leaderboard.Standing]) {
        let ranked = standings.filter { $0.rank.value != nil }
        guard pool >= 0, let weights = Self.weights(tiers, count: ranked.count) else { return nil }
        guard !ranked.isEmpty else {
            payouts = []
            return
        }
        let prizes = Allocation.largestRemainder(pool, weights: weights)
        var payouts: [Payout] = []
        var first = 0
        while first < ranked.count {
            let rank = ranked[first].rank.value
            let end = ranked[first...].firstIndex { $0.rank.value != rank } ?? ranked.count
            let sum = prizes[min(first, prizes.count)..<min(end, prizes.count)].reduce(0, +)
            let shares = Allocation.equalShares(of: sum, count: end - first)
            for (standing, share) in zip(ranked[first..<end], shares) {
                payouts.append(Payout(standing: standing, cents: share))
            }
            first = end
        }
        self.payouts = payouts
    }

    /// The weights of the first ranks; `nil` for tiers that cannot be.
    private static func weights(_ tiers: [PayoutTier], count: Int) -> [Int64]? {
        var shares: [(bps: Int64, size: Int64)] = []
        var multiple: Int64 = 1
        for tier in tiers {
            let size = tier.rankMax.value - tier.rankMin.value + 1
            // A percent has two decimals at most, like an amount.
            guard let bps = Money(tier.payoutPercent)?.minorUnits, (1...10_000).contains(bps),
                (1...10_000).contains(size)
            else { return nil }
            multiple = leastCommonMultiple(multiple, size)
            guard multiple <= 1_000_000_000 else { return nil }
            shares.append((bps, size))
        }
        guard !shares.isEmpty else { return nil }
        let weights = shares.flatMap { share in
            repeatElement(share.bps * (multiple / share.size), count: Int(share.size))
        }
        return Array(weights.prefix(count))
    }

    private static func leastCommonMultiple(_ first: Int64, _ second: Int64) -> Int64 {
        var (a, b) = (first, second)
        while b != 0 { (a, b) = (b, a % b) }
        return first / a * second
    }
}
