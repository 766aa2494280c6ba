internal import Contests
internal import GotchuAPI
internal import GotchuCore
internal import Ledger

/// A contest with the field names of the first clients, for `/api/custom-contests/{id}`.
struct CustomContest: Encodable, Sendable {
    private let actions: ContestActions
    private let contest_id: WireUUID
    private let contest_name: String
    private let created_at: WireTime
    private let end_time: Nullable<WireTime>
    private let entry_count: WireCount
    private let entry_fee_cents: WireCount
    private let id: WireUUID
    private let is_locked: Bool
    private let join_token: Nullable<String>
    private let leaderboard_state: State
    private let lock_time: WireTime
    private let max_entries: WireCount
    private let organizer_id: WireUUID
    private let organizer_name: String
    private let payout_table: [Tier]
    private let roster_config: RosterConfig
    private let start_time: WireTime
    private let status: ContestState
    private let template_id: WireUUID
    private let type: String
    private let updated_at: WireTime
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
        contest_id = detail.contestID
        contest_name = detail.contestName
        created_at = detail.createdAt
        end_time = detail.endTime
        entry_count = detail.entryCount
        entry_fee_cents = detail.entryFeeCents
        id = detail.id
        is_locked = detail.isLocked
        join_token = detail.joinToken
        switch view.contest.state {
        case .settled: leaderboard_state = .computed
        case .cancelled, .error: leaderboard_state = .error
        case .draft, .open, .locked, .live, .complete: leaderboard_state = .pending
        }
        lock_time = detail.lockTime
        max_entries = detail.maxEntries
        organizer_id = detail.organizerID
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
        // The first clients know no PAID: their `leaderboard_state` tells that prizes are paid.
        status = detail.state == .paid ? .complete : detail.state
        template_id = detail.templateID
        type = detail.type
        updated_at = detail.updatedAt
        user_has_entered = detail.userHasEntered
        version = detail.version
    }
}
