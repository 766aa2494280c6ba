package import GotchuCore

/// The terms on which several payers share a bill.
package struct SplitTerms: Codable, Equatable, Sendable {
    /// The allowed numbers of shares.
    package static let allowedShares = 2...50

    /// The number of equal shares.
    package var shares: Int?
    /// The shares, if unequal; their sum is the amount.
    package var shareCents: [Int64]?
    /// True if the payee gets all shares or none; by default false.
    package var isAllOrNothing: Bool?

    package init(shares: Int?, shareCents: [Int64]?, isAllOrNothing: Bool?) {
        self.shares = shares
        self.shareCents = shareCents
        self.isAllOrNothing = isAllOrNothing
    }

    /// - Throws: A problem: 400 for an invalid object.
    init(_ fields: JSONFields) throws(Problem) {
        var fields = fields
        shares = try fields.integer("shares").map { Int(clamping: $0) }
        shareCents = try fields.integers("share_cents", limit: Self.allowedShares.upperBound)
        isAllOrNothing = try fields.boolean("is_all_or_nothing")
        try fields.rejectUnreadMembers()
    }

    enum CodingKeys: String, CodingKey {
        case isAllOrNothing = "is_all_or_nothing"
        case shareCents = "share_cents"
        case shares
    }
}

/// The places of a session that several payers pay.
package struct Places: Codable, Equatable, Sendable {
    /// The kind of a shared bill.
    package static let split = "split"
    /// The kind of a desk, at which payers enter a contest.
    package static let entry = "entry"

    /// The session's kind: `split`, `entry`, or an unknown one of a newer server.
    package var kind: String
    package var places: Int64
    package var paid: Int64
    package var held: Int64
    /// The sum of the paid places.
    package var paidCents: WireInteger
    /// The ids of a split's paid shares; absent if there are none.
    package var paidShares: [SessionID]?

    package init(
        kind: String,
        places: Int64,
        paid: Int64,
        held: Int64,
        paidCents: WireInteger,
        paidShares: [SessionID]? = nil
    ) {
        self.kind = kind
        self.places = places
        self.paid = paid
        self.held = held
        self.paidCents = paidCents
        self.paidShares = paidShares
    }

    /// Creates the places from a session's members; `nil` if one payer pays it. Further ids of
    /// paid shares are dropped.
    init?(
        _ kind: String?,
        _ places: Int64?,
        _ paid: Int64?,
        _ held: Int64?,
        _ paidCents: WireInteger?,
        _ paidShares: [SessionID]? = nil
    ) {
        guard let kind, let places, let paid, let held, let paidCents else { return nil }
        self.init(
            kind: kind,
            places: places,
            paid: paid,
            held: held,
            paidCents: paidCents,
            paidShares: paidShares.map { Array($0.prefix(SplitTerms.allowedShares.upperBound)) }
        )
    }

    enum CodingKeys: String, CodingKey {
        case held = "places_held"
        case kind
        case paid = "places_paid"
        case paidCents = "paid_cents"
        case paidShares = "paid_shares"
        case places
    }
}
