import Foundation

/// The replies as the product's documents declare them for their own clients: the names and types
/// of their members, for a `JSONDecoder` without any strategy.
enum SeedClient {
    // MARK: Wallet

    struct PaymentIntent: Decodable {
        let payment_intent_id: String
        let status: String
        let client_secret: String
        let amount_cents: Int
        let currency: String
    }

    struct WalletBalance: Decodable {
        let wallet_id: String
        let user_id: String
        let balance_cents: Int
        let currency: String
        let last_updated: String
    }

    struct WalletTransaction: Decodable {
        let transaction_id: String
        let wallet_id: String
        let user_id: String
        let type: String
        let amount_cents: Int
        let contest_instance_id: String?
        let ledger_id: String?
        let created_at: String
        let status: String
    }

    struct WalletTransactionHistory: Decodable {
        let transactions: [WalletTransaction]
        let total_count: Int
        let page: Int
        let limit: Int
    }

    struct InsufficientBalanceError: Decodable {
        let error_code: String
        let reason: String
        let required_cents: Int
        let available_cents: Int
    }

    // MARK: Contests by their members

    /// The states of a contest's lifecycle.
    enum Lifecycle: String, Decodable {
        case SCHEDULED, LOCKED, LIVE, COMPLETE, CANCELLED, ERROR
    }

    enum SettlementState: String, Decodable {
        case pending, computed, error
    }

    enum ContestStatus: String, Decodable {
        case scheduled, active, closed, scoring, settled, cancelled, error
    }

    enum LeaderboardState: String, Decodable {
        case open, locked, scoring, scored, disputed, settled
    }

    /// A contest. The documents have two vocabularies for its status and its leaderboard's state.
    struct Contest<Status: Decodable, State: Decodable>: Decodable {
        let contest_id: String
        let template_id: String
        let type: String
        let organizer_id: String
        let organizer_name: String?
        let entry_count: Int?
        let max_entries: Int?
        let entry_fee_cents: Int?
        let contest_name: String?
        let status: Status
        let is_locked: Bool?
        let leaderboard_state: State
        let actions: Actions
        let payout_table: [PayoutTier]
        let roster_config: RosterConfig?
        let created_at: String
        let updated_at: String
        let start_time: String?
        let end_time: String?
        let lock_time: String?
        let join_token: String?
        let user_has_entered: Bool
    }

    struct Actions: Decodable {
        let can_join: Bool
        let can_edit_entry: Bool
        let is_live: Bool
        let is_closed: Bool
        let is_scoring: Bool
        let is_scored: Bool
        let is_read_only: Bool
        let can_share_invite: Bool
        let can_manage_contest: Bool
        let can_delete: Bool
        let can_unjoin: Bool
    }

    struct PayoutTier: Decodable {
        let rank_min: Int?
        let rank_max: Int?
        let amount_cents: Int?
    }

    struct RosterConfig: Decodable {
        let entry_fields: [String: JSON]?
        let validation_rules: [String: JSON]?
    }

    /// The members of `/api/custom-contests/{id}` beside those of `Contest`.
    struct CustomContest: Decodable {
        let id: String
        let payout_table: [Prize]

        struct Prize: Decodable {
            let place: String
            let rank_min: Int
            let rank_max: Int
            let amount: String?
            let payout_percent: Double
            let currency: String
        }
    }

    struct Standing: Decodable {
        let user_id: String
        let username: String
        let rank: Int?
        let values: [JSON]
        let tier: Int?
    }

    struct LeaderboardByColumns: Decodable {
        let contest_id: String
        let columns: [Column]
        let standings: [Standing]
        let leaderboard_state: LeaderboardState
        let meta: Meta

        struct Column: Decodable {
            let name: String
            let type: String
        }

        struct Meta: Decodable {
            let generated_at: String?
            let total_participants: Int?
        }
    }

    struct PayoutRow: Decodable {
        let user_id: String
        let username: String
        let rank: Int
        let payout_cents: Int
        let tier: Int
    }

    struct Payouts: Decodable {
        let payouts: [PayoutRow]
    }
}
