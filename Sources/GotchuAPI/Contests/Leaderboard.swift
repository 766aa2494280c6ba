package import GotchuCore

/// A page of a contest's standings: the answer to `GET …/leaderboard`.
package struct Leaderboard: Codable, Hashable, Sendable {
    package var columns: [Column]
    package var contestID: WireUUID
    package var contract: Int = 1
    package var leaderboardState: LeaderboardState
    package var meta: Meta
    package var nextCursor: String?
    /// The rows. Each has exactly the keys of the columns.
    package var rows: [[String: JSONValue]]
    package var standings: [Standing]
    package var state: ContestState

    package struct Column: Codable, Hashable, Sendable {
        package var key: String
        package var label: String
        /// The same as `label`, by the name that the first clients read.
        package var name: String
        /// The type: `number`, `string`, `currency` or `duration_ms`. A client shows any other as
        /// text.
        package var type: String?
        package var align: String?

        package init(key: String, label: String, type: String?, align: String?) {
            self.key = key
            self.label = label
            name = label
            self.type = type
            self.align = align
        }
    }

    package struct Standing: Codable, Hashable, Sendable {
        package var entryID: WireUUID
        package var username: String
        package var rank: Nullable<WireCount>
        /// The cells of its row, in column order.
        package var values: [JSONValue]
        package var tier: Nullable<WireCount>
        /// The prize in minor units; `null` until settled.
        package var payoutCents: Nullable<WireCount>
        package var isYou: Bool?
        /// The same as `entryID`: the entrant's id within this contest, never that of the user.
        package var userID: WireUUID
        /// The number under which the organiser enters its scores.
        package var entryNumber: WireCount?

        package init(
            entryID: WireUUID,
            username: String,
            rank: WireCount?,
            values: [JSONValue],
            tier: WireCount?,
            payoutCents: WireCount?,
            isYou: Bool?,
            entryNumber: WireCount?
        ) {
            self.entryID = entryID
            userID = entryID
            self.username = username
            self.rank = Nullable(rank)
            self.values = values
            self.tier = Nullable(tier)
            self.payoutCents = Nullable(payoutCents)
            self.isYou = isYou
            self.entryNumber = entryNumber
        }

        enum CodingKeys: String, CodingKey {
            case entryID = "entry_id"
            case entryNumber = "entry_number"
            case isYou = "is_you"
            case payoutCents = "payout_cents"
            case rank, tier
            case userID = "user_id"
            case username, values
        }
    }

    package struct Meta: Codable, Hashable, Sendable {
        package var generatedAt: WireTime
        package var revision: WireCount
        package var totalParticipants: WireCount

        package init(generatedAt: Timestamp, revision: WireCount, totalParticipants: WireCount) {
            self.generatedAt = WireTime(generatedAt)
            self.revision = revision
            self.totalParticipants = totalParticipants
        }

        enum CodingKeys: String, CodingKey {
            case generatedAt = "generated_at"
            case revision
            case totalParticipants = "total_participants"
        }
    }

    package init(
        contestID: WireUUID,
        state: ContestState,
        leaderboardState: LeaderboardState,
        columns: [Column],
        standings: [Standing],
        meta: Meta,
        nextCursor: String?
    ) {
        self.contestID = contestID
        self.state = state
        self.leaderboardState = leaderboardState
        self.columns = columns
        self.standings = standings
        self.meta = meta
        self.nextCursor = nextCursor
        rows = standings.map { standing in
            let cells = zip(columns.map(\.key), standing.values)
            return Dictionary(uniqueKeysWithValues: cells.map { ($0, $1) })
        }
    }

    enum CodingKeys: String, CodingKey {
        case columns
        case contestID = "contest_id"
        case contract
        case leaderboardState = "leaderboard_state"
        case meta
        case nextCursor = "next_cursor"
        case rows, standings, state
    }
}

/// A contest's settlement: the answer to `POST …/settle` and `GET …/settlement`.
package struct SettlementReply: Codable, Hashable, Sendable {
    package var contestID: WireUUID
    package var revision: WireCount
    package var rules: WireCount
    package var poolCents: WireCount
    package var rakeCents: WireCount
    package var commissionCents: WireCount
    package var payouts: [Payout]
    package var inputsSHA256: String
    package var resultSHA256: String
    /// The id of the transfer; absent if there was no money to move.
    package var transferID: String?
    /// The time of the settlement; `null` in a preview.
    package var settledAt: Nullable<WireTime>

    package struct Payout: Codable, Hashable, Sendable {
        package var entryID: WireUUID
        package var entryNumber: WireCount
        package var rank: WireCount
        package var tier: Nullable<WireCount>
        package var payoutCents: WireCount
        /// The same as `entryID`.
        package var userID: WireUUID
        package var username: String

        package init(
            entryID: WireUUID,
            entryNumber: WireCount,
            username: String,
            rank: WireCount,
            tier: WireCount?,
            payoutCents: WireCount
        ) {
            self.entryID = entryID
            userID = entryID
            self.username = username
            self.entryNumber = entryNumber
            self.rank = rank
            self.tier = Nullable(tier)
            self.payoutCents = payoutCents
        }

        enum CodingKeys: String, CodingKey {
            case entryID = "entry_id"
            case entryNumber = "entry_number"
            case payoutCents = "payout_cents"
            case rank, tier
            case userID = "user_id"
            case username
        }
    }

    package init(
        contestID: WireUUID,
        revision: WireCount,
        rules: WireCount,
        poolCents: WireCount,
        rakeCents: WireCount,
        commissionCents: WireCount,
        payouts: [Payout],
        inputsSHA256: String,
        resultSHA256: String,
        transferID: String?,
        settledAt: Timestamp?
    ) {
        self.contestID = contestID
        self.revision = revision
        self.rules = rules
        self.poolCents = poolCents
        self.rakeCents = rakeCents
        self.commissionCents = commissionCents
        self.payouts = payouts
        self.inputsSHA256 = inputsSHA256
        self.resultSHA256 = resultSHA256
        self.transferID = transferID
        self.settledAt = Nullable(settledAt.map(WireTime.init))
    }

    enum CodingKeys: String, CodingKey {
        case commissionCents = "commission_cents"
        case contestID = "contest_id"
        case inputsSHA256 = "inputs_sha256"
        case payouts
        case poolCents = "pool_cents"
        case rakeCents = "rake_cents"
        case resultSHA256 = "result_sha256"
        case revision, rules
        case settledAt = "settled_at"
        case transferID = "transfer_id"
    }
}

/// The answer to `POST …/scores`.
package struct ScoresReply: Codable, Hashable, Sendable {
    package var revision: WireCount
    package var sha256: String

    package init(revision: WireCount, sha256: String) {
        self.revision = revision
        self.sha256 = sha256
    }
}

/// The answer to `POST …/invite/renew`.
package struct InvitationReply: Codable, Hashable, Sendable {
    package var joinToken: String

    package init(joinToken: String) {
        self.joinToken = joinToken
    }

    enum CodingKeys: String, CodingKey {
        case joinToken = "join_token"
    }
}
