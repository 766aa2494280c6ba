package import GotchuCore

/// A UUID in lower case, as servers write it. Decoding fails for any other text.
package struct WireUUID: TextCodable, Hashable, Sendable {
    package let description: String

    /// - Returns: `nil` for any other text.
    package init?(_ text: String) {
        guard text.isUUID else { return nil }
        description = text
    }
}

/// A non-negative integer: an amount in minor units, or a count.
package struct WireCount: Codable, Hashable, Sendable {
    package let value: Int64

    /// - Precondition: The value is not negative.
    package init(_ value: Int64) {
        precondition(value >= 0)
        self.value = value
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        value = try container.decode(Int64.self)
        guard (0...JSONReader.numberLimit).contains(value) else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "An amount or a count is not negative, and not too large."
            )
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
}

/// A member that is always present, but may be `null`.
package struct Nullable<Value: Codable & Hashable & Sendable>: Codable, Hashable, Sendable {
    package let value: Value?

    package init(_ value: Value?) {
        self.value = value
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        value = container.decodeNil() ? nil : try container.decode(Value.self)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let value { try container.encode(value) } else { try container.encodeNil() }
    }
}

/// The state of a contest, as lists spell it.
package enum ContestState: String, Codable, CaseIterable, Sendable {
    case scheduled = "SCHEDULED"
    case locked = "LOCKED"
    case live = "LIVE"
    case complete = "COMPLETE"
    case paid = "PAID"
    case cancelled = "CANCELLED"
    case error = "ERROR"
}

/// The state of a contest, as the detail spells it.
package enum ContestStatus: String, Codable, Sendable {
    case scheduled, active, closed, scoring, settled, cancelled, error
}

/// The state of a contest's leaderboard.
package enum LeaderboardState: String, Codable, Sendable {
    case open, locked, scoring, scored, disputed, settled
}

/// The prize of a range of ranks.
package struct PayoutTier: Codable, Hashable, Sendable {
    package var rankMin: WireCount
    package var rankMax: WireCount
    /// The prize of all ranks in the range together, in minor units; `null` until settled.
    package var amountCents: Nullable<WireCount>
    /// The percentage of the pool, in decimal digits.
    package var payoutPercent: String
    package var currency: Currency
    package var place: String?

    package init(
        rankMin: WireCount,
        rankMax: WireCount,
        amountCents: WireCount?,
        payoutPercent: String,
        currency: Currency,
        place: String?
    ) {
        self.rankMin = rankMin
        self.rankMax = rankMax
        self.amountCents = Nullable(amountCents)
        self.payoutPercent = payoutPercent
        self.currency = currency
        self.place = place
    }

    enum CodingKeys: String, CodingKey {
        case amountCents = "amount_cents"
        case currency
        case payoutPercent = "payout_percent"
        case place
        case rankMax = "rank_max"
        case rankMin = "rank_min"
    }
}

/// The fields and rules of an entry.
package struct RosterConfig: Codable, Hashable, Sendable {
    package var entryFields: [String: JSONValue]
    package var validationRules: [String: JSONValue]

    package init(entryFields: [String: JSONValue], validationRules: [String: JSONValue]) {
        self.entryFields = entryFields
        self.validationRules = validationRules
    }

    enum CodingKeys: String, CodingKey {
        case entryFields = "entry_fields"
        case validationRules = "validation_rules"
    }
}

/// The actions that the caller may take in a contest, each true or false.
package struct ContestActions: Codable, Hashable, Sendable {
    package var canDelete = false
    package var canEditEntry = false
    package var canEditRoster = false
    package var canJoin = false
    package var canManageContest = false
    package var canShareInvite = false
    package var canUnjoin = false
    package var canViewLeaderboard = false
    package var isClosed = false
    package var isLive = false
    package var isReadOnly = false
    package var isScored = false
    package var isScoring = false

    package init() {}

    enum CodingKeys: String, CodingKey {
        case canDelete = "can_delete"
        case canEditEntry = "can_edit_entry"
        case canEditRoster = "can_edit_roster"
        case canJoin = "can_join"
        case canManageContest = "can_manage_contest"
        case canShareInvite = "can_share_invite"
        case canUnjoin = "can_unjoin"
        case canViewLeaderboard = "can_view_leaderboard"
        case isClosed = "is_closed"
        case isLive = "is_live"
        case isReadOnly = "is_read_only"
        case isScored = "is_scored"
        case isScoring = "is_scoring"
    }
}

/// One action of a caller, as a client shows it.
package struct ContestAction: Codable, Hashable, Sendable {
    package var id: String
    package var label: String
    package var enabled: Bool
    /// The reason why the action is disabled.
    package var reason: Reason?
    package var method: Method
    package var href: String
    /// The confirmation question to ask before the action.
    package var confirm: String?
    package var needsKey: Bool?

    package struct Reason: Codable, Hashable, Sendable {
        package var code: String
        package var text: String

        package init(code: String, text: String) {
            self.code = code
            self.text = text
        }
    }

    package enum Method: String, Codable, Sendable {
        case get = "GET"
        case post = "POST"
        case delete = "DELETE"
    }

    package init(
        id: String,
        label: String,
        reason: Reason?,
        method: Method,
        href: String,
        confirm: String?,
        needsKey: Bool?
    ) {
        self.id = id
        self.label = label
        enabled = reason == nil
        self.reason = reason
        self.method = method
        self.href = href
        self.confirm = confirm
        self.needsKey = needsKey
    }

    enum CodingKeys: String, CodingKey {
        case confirm, enabled, href, id, label, method
        case needsKey = "needs_key"
        case reason
    }
}

/// A part of a contest's page. The type determines the format of the data. Types may be added.
package struct ContestSection: Codable, Hashable, Sendable {
    package var type: String
    package var title: String?
    package var data: JSONValue

    package init(type: String, title: String? = nil, data: JSONValue) {
        self.type = type
        self.title = title
        self.data = data
    }
}
