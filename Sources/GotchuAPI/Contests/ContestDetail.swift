package import GotchuCore

/// A contest in full, as one caller may see it.
package struct ContestDetail: Codable, Hashable, Sendable {
    package var actionList: [ContestAction] = []
    package var actions = ContestActions()
    /// The same as `id`, by the name that the first clients read.
    package var contestID: WireUUID
    package var contestName: String
    package var contract: Int = 1
    package var createdAt: WireTime
    package var display: Display
    package var endTime: Nullable<WireTime>
    package var entryCount: WireCount
    package var entryFeeCents: WireCount
    package var id: WireUUID
    package var isLocked = false
    package var joinToken = Nullable<String>(nil)
    package var leaderboardState: LeaderboardState
    package var lockTime: WireTime
    package var maxEntries: WireCount
    package var organizerID: WireUUID
    package var organizerName: String
    package var payoutTable: [PayoutTier] = []
    package var rosterConfig = RosterConfig(entryFields: [:], validationRules: [:])
    package var sections: [ContestSection] = []
    package var startTime: WireTime
    package var state: ContestState
    package var status: ContestStatus
    package var templateID: WireUUID
    package var type: String
    package var updatedAt: WireTime
    package var userHasEntered = false
    package var version: WireCount
    /// The caller's own entry; absent if the caller has none.
    package var entry: EnteredRoster?
    /// The newest score revision; 0 if there is none.
    package var revision: WireCount?
    /// The newest objections, as the organiser sees them. `objectionCount` counts all objections.
    package var objections: [Objection]?
    package var objectionCount: WireCount?
    /// A Boolean that is true if the caller has objected.
    package var objected: Bool?

    package struct Display: Codable, Hashable, Sendable {
        package var title: String
        package var description: String
        package var rulesURL: Nullable<String>

        package init(title: String, description: String, rulesURL: String?) {
            self.title = title
            self.description = description
            self.rulesURL = Nullable(rulesURL)
        }

        enum CodingKeys: String, CodingKey {
            case description
            case rulesURL = "rules_url"
            case title
        }
    }

    package struct Objection: Codable, Hashable, Sendable {
        package var entryNumber: WireCount
        package var username: String
        package var text: String
        package var madeAt: WireTime

        package init(entryNumber: WireCount, username: String, text: String, madeAt: Timestamp) {
            self.entryNumber = entryNumber
            self.username = username
            self.text = text
            self.madeAt = WireTime(madeAt)
        }

        enum CodingKeys: String, CodingKey {
            case entryNumber = "entry_number"
            case madeAt = "made_at"
            case text, username
        }
    }

    package init(
        id: WireUUID,
        type: String,
        state: ContestState,
        status: ContestStatus,
        leaderboardState: LeaderboardState,
        display: Display,
        templateID: WireUUID,
        organizerID: WireUUID,
        organizerName: String,
        times: (created: Timestamp, updated: Timestamp, lock: Timestamp, start: Timestamp),
        endTime: Timestamp?,
        counts: (entries: WireCount, most: WireCount),
        entryFeeCents: WireCount,
        version: WireCount
    ) {
        self.id = id
        contestID = id
        self.type = type
        self.state = state
        self.status = status
        self.leaderboardState = leaderboardState
        self.display = display
        self.templateID = templateID
        self.organizerID = organizerID
        self.organizerName = organizerName
        self.entryFeeCents = entryFeeCents
        self.version = version
        contestName = display.title
        createdAt = WireTime(times.created)
        updatedAt = WireTime(times.updated)
        lockTime = WireTime(times.lock)
        startTime = WireTime(times.start)
        self.endTime = Nullable(endTime.map(WireTime.init))
        entryCount = counts.entries
        maxEntries = counts.most
    }

    enum CodingKeys: String, CodingKey {
        case actionList = "action_list"
        case actions
        case contestID = "contest_id"
        case contestName = "contest_name"
        case contract
        case createdAt = "created_at"
        case display
        case endTime = "end_time"
        case entry
        case entryCount = "entry_count"
        case entryFeeCents = "entry_fee_cents"
        case id
        case isLocked = "is_locked"
        case joinToken = "join_token"
        case leaderboardState = "leaderboard_state"
        case lockTime = "lock_time"
        case maxEntries = "max_entries"
        case objected
        case objectionCount = "objection_count"
        case objections
        case organizerID = "organizer_id"
        case organizerName = "organizer_name"
        case payoutTable = "payout_table"
        case revision
        case rosterConfig = "roster_config"
        case sections
        case startTime = "start_time"
        case state, status
        case templateID = "template_id"
        case type
        case updatedAt = "updated_at"
        case userHasEntered = "user_has_entered"
        case version
    }
}

/// An entry in a contest, as its user sees it: the answer to `POST …/entries`.
package struct EnteredRoster: Codable, Hashable, Sendable {
    package var entryID: WireUUID
    package var entryNumber: WireCount
    package var roster: [Player]
    package var rosterVersion: WireCount

    package struct Player: Codable, Hashable, Sendable {
        package var playerID: WireUUID

        package init(playerID: WireUUID) {
            self.playerID = playerID
        }

        enum CodingKeys: String, CodingKey {
            case playerID = "player_id"
        }
    }

    package init(
        entryID: WireUUID,
        entryNumber: WireCount,
        roster: [Player],
        rosterVersion: WireCount
    ) {
        self.entryID = entryID
        self.entryNumber = entryNumber
        self.roster = roster
        self.rosterVersion = rosterVersion
    }

    enum CodingKeys: String, CodingKey {
        case entryID = "entry_id"
        case entryNumber = "entry_number"
        case roster
        case rosterVersion = "roster_version"
    }
}
