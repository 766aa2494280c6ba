internal import GotchuCore

/// The numbered rules that divide a pool into prizes. A rule by which contests were settled is
/// never removed or changed.
package enum PrizeRules {
    /// The number of the rules for new contests.
    package static let current: Int64 = 1
    /// The numbers of all rules.
    static let known: Set<Int64> = [1]

    /// The division of the money in a contest's pot, in minor units; the parts add up to the pot.
    package struct Division: Equatable, Sendable {
        /// The sum of the prizes.
        package let pool: Int64
        /// The organiser's part.
        package let rake: Int64
        /// The house's part of the rake.
        package let commission: Int64

        /// Divides the fees of `entries` entries and the added prize.
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

    /// Rules 1: the weight of a rank with a scored entry is its tier's share divided by the tier's
    /// size. The pool is divided by the largest remainder method; equal remainders favour the
    /// better rank. Tied entries share the prizes of their ranks equally, odd units in the order of
    /// their numbers.
    ///
    /// - Parameter standings: The standings of all entries, in the order of `Standing.ranked`.
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
