internal import Contests
internal import GotchuAPI
internal import GotchuCore

/// The prizes of a contest's page, one row for each rank.
extension ContestView {
    /// The maximum number of rows. The prizes beyond it are one last row.
    private static let prizeRowLimit = 100

    /// A row for each rank that gets a prize; once the contest is settled, one for each prize paid.
    var prizes: ContestSection {
        let rows = result.map { paidPrizes($0.plan.payouts) } ?? plannedPrizes(amount: nil)
        return ContestSection(type: "payout_table", data: .array(rows))
    }

    private func plannedPrizes(amount: Int64?) -> [JSONValue] {
        let last = terms.tiers.last?.rankMax ?? 0
        let limit = Int64(Self.prizeRowLimit)
        let single = last > limit ? limit - 1 : last
        var rows = (0..<single).map { prize($0 + 1...$0 + 1, amount, share(of: $0 + 1...$0 + 1)) }
        if single < last {
            rows.append(prize(single + 1...last, amount, share(of: single + 1...last)))
        }
        return rows
    }

    /// - Parameter payouts: Those of all ranked entries, in the order of the standings.
    private func paidPrizes(_ payouts: [PrizeRules.Payout]) -> [JSONValue] {
        let ranks = payouts.map { $0.standing.rank ?? 0 }
        let tied = Dictionary(ranks.map { ($0, Int64(1)) }, uniquingKeysWith: +)
        let paid = payouts.filter { $0.amount > 0 }
        // Without any prize, the terms say more than no rows.
        guard let last = paid.last?.standing.rank else { return plannedPrizes(amount: 0) }
        let single = paid.count > Self.prizeRowLimit ? Self.prizeRowLimit - 1 : paid.count
        var rows = paid.prefix(single).map { payout in
            let rank = payout.standing.rank ?? 0
            let count = tied[rank] ?? 1
            let share = share(of: rank...rank + count - 1) / count
            return prize(rank...rank, payout.amount, share)
        }
        let rest = paid.dropFirst(single)
        if let first = rest.first?.standing.rank {
            // Ties share the places from their rank on, so places are counted here, not ranks.
            let share = share(of: Int64(single) + 1...Int64(payouts.count))
            rows.append(prize(first...last, rest.reduce(0) { $0 + $1.amount }, share))
        }
        return rows
    }

    private func prize(_ ranks: ClosedRange<Int64>, _ amount: Int64?, _ share: Int64) -> JSONValue {
        let percent = Self.percent(share)
        return .object([
            "rank": .integer(ranks.lowerBound),
            "rank_max": .integer(ranks.upperBound),
            "amount": .string(amount.map(text) ?? "\(percent)%"),
            "amount_cents": amount.map(JSONValue.integer) ?? .null,
            "payout_percent": .string(percent),
        ])
    }

    /// Returns the share of the pool that the terms give to ranks together, in ten-thousandths of
    /// a percent, rounded down for each tier.
    private func share(of ranks: ClosedRange<Int64>) -> Int64 {
        terms.tiers.reduce(0) { (sum: Int64, tier) in
            let first = max(ranks.lowerBound, tier.rankMin)
            let last = min(ranks.upperBound, tier.rankMax)
            guard first <= last else { return sum }
            let size = tier.rankMax - tier.rankMin + 1
            return sum + tier.shareBPS * 100 * (last - first + 1) / size
        }
    }

    /// Formats ten-thousandths of a percent as percent in plain digits: `50`, `12.5`, `33.3333`.
    static func percent(_ share: Int64) -> String {
        let (whole, rest) = share.quotientAndRemainder(dividingBy: 10_000)
        guard rest > 0 else { return "\(whole)" }
        var digits = String("\(10_000 + rest)".dropFirst())
        while digits.last == "0" { digits.removeLast() }
        return "\(whole).\(digits)"
    }
}
