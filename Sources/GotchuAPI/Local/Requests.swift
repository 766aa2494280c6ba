package import GotchuCore

/// `POST /v1/requests`: requests a payment.
package struct NewRequest: Codable, Equatable, Sendable {
    package var amountCents: Int64
    package var currency: Currency?
    package var memo: String?
    /// The lifetime in seconds: 1 to 300, for a split to 3,600, for a desk to 43,200. The default
    /// is 300.
    package var ttlSeconds: Int?
    /// True if the payer may add a tip; by default false.
    package var allowsTip: Bool?
    /// The terms on which several payers share the bill.
    package var split: SplitTerms?
    /// The contest that payers enter. The amount is its fee, and the request is then a desk.
    package var contestID: String?

    package init(
        amountCents: Int64,
        currency: Currency? = nil,
        memo: String? = nil,
        ttlSeconds: Int? = nil,
        allowsTip: Bool? = nil,
        split: SplitTerms? = nil,
        contestID: String? = nil
    ) {
        self.amountCents = amountCents
        self.currency = currency
        self.memo = memo
        self.ttlSeconds = ttlSeconds
        self.allowsTip = allowsTip
        self.split = split
        self.contestID = contestID
    }

    /// - Throws: A problem: 400 for an invalid body.
    package init(_ fields: JSONFields) throws(Problem) {
        var fields = fields
        amountCents = try fields.requiredInteger("amount_cents")
        currency = try fields.currency("currency")
        memo = try fields.shortText("memo", limit: 140)
        ttlSeconds = try fields.integer("ttl_seconds").map { Int(clamping: $0) }
        // False is sent as absent: other payment servers may refuse a member that they do not
        // know.
        allowsTip = try fields.boolean("allows_tip") == true ? true : nil
        contestID = try fields.shortText("contest_id", limit: 36)
        split = try fields.object("split").map { (terms) throws(Problem) in try SplitTerms(terms) }
        try fields.rejectUnreadMembers()
    }

    enum CodingKeys: String, CodingKey {
        case amountCents = "amount_cents"
        case contestID = "contest_id"
        case currency, memo, split
        case ttlSeconds = "ttl_seconds"
        case allowsTip = "allows_tip"
    }
}

/// A kiosk's request for a payment: `GET /v1/requests/{id}`. Its id is the session's `sid`.
package struct RequestView: Codable, Equatable, Sendable {
    package var id: SessionID
    package var eid: EID
    /// The first EID, if it was replaced.
    package var firstEID: EID?
    package var state: State
    package var amountCents: Int64
    /// The tip that the payer gave, in addition to the amount; absent if the request allows none.
    package var tipCents: Int64?
    /// The refunded amount, tip included, as the payment server last reported it. Absent if it has
    /// reported no refund.
    package var refundedCents: Int64?
    /// The numbers of all and of paid places, if several payers pay it.
    package var places: Places?
    /// True if the payee gets all shares or none; otherwise absent.
    package var isAllOrNothing: Bool?
    /// The contest, if the request is a desk. Absent until the server has returned it.
    package var contest: DeskContest?
    package var currency: Currency
    package var memo: String?
    package var createdAt: Timestamp
    package var expiresAt: Timestamp
    package var paidAt: Timestamp?
    /// The payee as payers see it; absent if the server does not return it.
    package var payee: String?
    /// The link with which a browser pays it, as encoded in its QR code:
    /// `HTTPS://PAY.EXAMPLE/P/8BB71B3447`. Absent if the request is not advertised or the server
    /// has no pages.
    package var payLink: String?
    /// The time at which a payer's device was last close to the payee's, by this device's clock.
    /// Absent before that, and when no payer is awaited any more.
    package var noticedAt: Timestamp?
    /// A Boolean that is true while its EID is on the air.
    package var isOnAir: Bool
    /// One short sentence about the state: `Waiting for a payer.`
    package var reason: String

    package init(
        id: SessionID,
        eid: EID,
        firstEID: EID? = nil,
        state: State,
        amountCents: Int64,
        tipCents: Int64? = nil,
        refundedCents: Int64? = nil,
        places: Places? = nil,
        isAllOrNothing: Bool? = nil,
        contest: DeskContest? = nil,
        currency: Currency,
        memo: String?,
        createdAt: Timestamp,
        expiresAt: Timestamp,
        paidAt: Timestamp?,
        payee: String? = nil,
        payLink: String? = nil,
        noticedAt: Timestamp? = nil,
        isOnAir: Bool,
        reason: String
    ) {
        self.id = id
        self.eid = eid
        self.firstEID = firstEID
        self.state = state
        self.amountCents = amountCents
        self.tipCents = tipCents
        self.refundedCents = refundedCents
        self.places = places
        self.isAllOrNothing = isAllOrNothing
        self.contest = contest
        self.currency = currency
        self.memo = memo
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.paidAt = paidAt
        self.payee = payee
        self.payLink = payLink
        self.noticedAt = noticedAt
        self.isOnAir = isOnAir
        self.reason = reason
    }

    package var amount: TippedAmount {
        TippedAmount(Money(minorUnits: amountCents, currency: currency), tip: tipCents)
    }

    /// The paid part of a shared bill: `3 of 5 paid · $30.00 of $50.00`. For a desk, the places
    /// sold: `3 of 20 places · $15.00`. Otherwise `nil`.
    package var progress: String? {
        places.map { places in
            let paid = Money(minorUnits: places.paidCents.value, currency: currency)
            if places.kind == Places.entry {
                return "\(places.paid) of \(places.places) places · \(paid)"
            }
            return "\(places.paid) of \(places.places) paid · \(paid) of \(amount.amount)"
        }
    }

    package enum State: String, Codable, CaseIterable, Sendable {
        /// Waiting for a payer.
        case advertising
        /// A payer has locked the session and may be about to send.
        case locked
        /// The money is in the payee's wallet.
        case paid
        /// Not paid in time.
        case expired
        /// The payee cancelled it.
        case cancelled
        /// It ended while the server was unreachable. The daemon is asking for the outcome.
        case unknown

        package var isFinal: Bool {
            switch self {
            case .paid, .expired, .cancelled: true
            case .advertising, .locked, .unknown: false
            }
        }
    }

    enum CodingKeys: String, CodingKey {
        case id, eid, state, contest, currency, memo, payee, places, reason
        case isAllOrNothing = "is_all_or_nothing"
        case firstEID = "first_eid"
        case amountCents = "amount_cents"
        case tipCents = "tip_cents"
        case refundedCents = "refunded_cents"
        case createdAt = "created_at"
        case expiresAt = "expires_at"
        case paidAt = "paid_at"
        case payLink = "pay_link"
        case noticedAt = "noticed_at"
        case isOnAir = "is_on_air"
    }
}

/// `GET /v1/requests`: the open requests and those made since the daemon's start, newest first.
package struct RequestsReply: Codable, Equatable, Sendable {
    package var requests: [RequestView]

    package init(requests: [RequestView]) {
        self.requests = requests
    }
}
