internal import GotchuCore

/// The rules by which a pool becomes prizes. A rule that contests were settled by is kept for ever,
/// under its number.
package enum PrizeRules {
    /// The rules of new contests.
    package static let current: Int64 = 1
    /// The rules that there have been.
    static let known: Set<Int64> = [1]

    /// The division of the money in a contest's pot, in minor units; all of it together is the pot.
    package struct Division: Equatable, Sendable {
        /// The prizes together.
        package let pool: Int64
        /// The organiser's part.
        package let rake: Int64
        /// The house's part of the organiser's.
        package let commission: Int64

        /// Divides what `entries` have paid, and the added prize.
        package init(_ terms: ContestTerms, entries: Int64) {
            let fees = entries * terms.fee
            let rake = fees * terms.rakeBPS / ContestTerms.whole
            pool = fees + terms.addedPrize - rake
            commission = rake * terms.commissionBPS / ContestTerms.whole
            self.rake = rake
        }
    }

    /// The prize of one entry.
    package struct Payout: Equatable, Sendable {
        package let standing: Standing
        package let amount: Int64
    }

    /// Rules 1: each rank that a scored entry occupies weighs its tier's share divided by the
    /// tier's size; the pool is divided by largest remainder, equal remainders to the better rank.
    /// Tied entries add up the prizes of the ranks that they occupy and divide them equally, odd
    /// units in the order of their numbers.
    ///
    /// - Parameter standings: Those of all entries, in the order of `Standing.ranked`.
    /// - Returns: The payouts of ranked entries, in the order of the standings; their sum is the
    ///   pool. Empty if nobody is ranked.
    package static func payouts(
        of pool: Int64,
        to standings: [Standing],
        _ tiers: [ContestTerms.Tier]
    ) -> [Payout] {
        let ranked = standings.filter { $0.rank != nil }
        guard !ranked.isEmpty else { return [] }
        let multiple = tiers.reduce(1) { ContestTerms.leastCommonMultiple($0, $1.size) }
        let weights = tiers.flatMap { tier in
            repeatElement(tier.shareBPS * (multiple / tier.size), count: Int(tier.size))
        }.prefix(ranked.count)
        let prizes = Allocation.largestRemainder(pool, weights: Array(weights))
        var payouts: [Payout] = []
        payouts.reserveCapacity(ranked.count)
        var first = 0
        while first < ranked.count {
            let end = ranked[first...].firstIndex { $0.rank != ranked[first].rank } ?? ranked.count
            let sum = prizes[min(first, prizes.count)..<min(end, prizes.count)].reduce(0, +)
            let shares = Allocation.equalShares(of: sum, count: end - first)
            for (standing, share) in zip(ranked[first..<end], shares) {
                payouts.append(Payout(standing: standing, amount: share))
            }
            first = end
        }
        return payouts
    }
}
