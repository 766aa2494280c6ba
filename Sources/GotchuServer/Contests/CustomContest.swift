internal import Contests
internal import GotchuAPI
internal import GotchuCore
internal import Ledger

/// A contest with the field names of the first clients, for `/api/custom-contests/{id}`.
struct CustomContest: Encodable, Sendable {
    private let actions: ContestActions
    private let contest_name: String
    private let end_time: Nullable<Timestamp>
    private let entry_count: WireCount
    private let entry_fee_cents: WireCount
    private let id: WireUUID
    private let leaderboard_state: State
    private let lock_time: Timestamp
    private let max_entries: WireCount
    private let organizer_name: String
    private let payout_table: [Tier]
    private let roster_config: RosterConfig
    private let start_time: Timestamp
    private let status: String
    private let user_has_entered: Bool
    private let version: WireCount

    private enum State: String, Encodable {
        case pending, computed, error
    }

    private struct Tier: Encodable {
        let amount: Nullable<String>
        let amount_cents: Nullable<WireCount>
        let currency: Currency
        let payout_percent: Double
        let place: String
        let rank_max: WireCount
        let rank_min: WireCount
    }

    init(_ view: ContestView) throws(LedgerError) {
        let detail = try view.detail
        actions = detail.actions
        contest_name = detail.contestName
        end_time = detail.endTime
        entry_count = detail.entryCount
        entry_fee_cents = detail.entryFeeCents
        id = detail.id
        switch view.contest.state {
        case .settled: leaderboard_state = .computed
        case .cancelled, .error: leaderboard_state = .error
        case .draft, .open, .locked, .live, .complete: leaderboard_state = .pending
        }
        lock_time = detail.lockTime
        max_entries = detail.maxEntries
        organizer_name = detail.organizerName
        payout_table = zip(detail.payoutTable, view.terms.tiers).map { tier, terms in
            let amount = tier.amountCents.value.map {
                Money(minorUnits: $0.value, currency: tier.currency).decimalText
            }
            return Tier(
                amount: Nullable(amount),
                amount_cents: tier.amountCents,
                currency: tier.currency,
                payout_percent: Double(terms.shareBPS) / 100,
                place: tier.place ?? "\(tier.rankMin.value)-\(tier.rankMax.value)",
                rank_max: tier.rankMax,
                rank_min: tier.rankMin
            )
        }
        roster_config = detail.rosterConfig
        start_time = detail.startTime
        status = view.contest.state.rawValue.uppercased()
        user_has_entered = detail.userHasEntered
        version = detail.version
    }
}
