package import GotchuCore

/// `POST /sessions/create`.
package struct CreateSessionRequest: Codable, Equatable, Sendable {
    package var amountCents: Int64
    package var currency: Currency?
    /// A text shown to the payer. At most 140 characters.
    package var memo: String?
    /// The lifetime in seconds: 1 to 300, for a split to 3,600, for a desk to 43,200. The default
    /// is 300.
    package var ttlSeconds: Int?
    /// True if the payer may add a tip; by default false.
    package var allowsTip: Bool?
    /// The kind, `split` or `entry`, if several payers pay it; otherwise absent.
    package var kind: String?
    /// The contest that payers enter by paying.
    package var contestID: String?
    /// The number of equal shares of a split.
    package var shares: Int?
    /// The shares of a split, if unequal; their sum is the amount.
    package var shareCents: [Int64]?
    /// True if the payee of a split gets all shares or none; by default false.
    package var isAllOrNothing: Bool?

    package init(_ new: NewRequest) {
        amountCents = new.amountCents
        // The currency of a desk is that of its contest.
        currency = new.contestID == nil ? new.currency : nil
        memo = new.memo
        ttlSeconds = new.ttlSeconds
        allowsTip = new.allowsTip
        kind = new.contestID == nil ? new.split.map { _ in Places.split } : Places.entry
        contestID = new.contestID
        shares = new.split?.shares
        shareCents = new.split?.shareCents
        isAllOrNothing = new.split?.isAllOrNothing
    }

    enum CodingKeys: String, CodingKey {
        case allowsTip = "allows_tip"
        case amountCents = "amount_cents"
        case contestID = "contest_id"
        case currency
        case isAllOrNothing = "is_all_or_nothing"
        case kind, memo
        case shareCents = "share_cents"
        case shares
        case ttlSeconds = "ttl_seconds"
    }
}

/// The answer to `POST /sessions/create`.
package struct CreateSessionReply: Codable, Equatable, Sendable {
    package var sid: SessionID
    package var eid: EID
    package var expiresAt: Timestamp
    /// The payee as payers will see it.
    package var payee: PayeeDisplay?
    /// The origin of the payer's pages: `https://pay.example`; absent if the server has none.
    package var publicURL: String?

    package init(
        sid: SessionID,
        eid: EID,
        expiresAt: Timestamp,
        payee: PayeeDisplay? = nil,
        publicURL: String? = nil
    ) {
        self.sid = sid
        self.eid = eid
        self.expiresAt = expiresAt
        self.payee = payee
        self.publicURL = publicURL
    }

    enum CodingKeys: String, CodingKey {
        case eid
        case expiresAt = "exp_at"
        case payee = "payee_display"
        case publicURL = "public_url"
        case sid
    }
}

/// `POST /sessions/resolve`.
package struct ResolveRequest: Codable, Equatable, Sendable {
    package var eid: EID
    /// The position of the payer's device. If the call has a token, it is shown on the payee's
    /// screens.
    package var proximity: PayerProximity?

    package init(eid: EID, proximity: PayerProximity? = nil) {
        self.eid = eid
        self.proximity = proximity
    }

    /// Parses the body of gotchud's own `POST /v1/resolve`, which has no proximity.
    ///
    /// - Throws: A problem: 400 for an invalid body.
    package init(_ fields: JSONFields) throws(Problem) {
        var fields = fields
        guard let eid = try fields.eid("eid") else { throw .invalid("eid is missing.") }
        try fields.rejectUnreadMembers()
        self.eid = eid
    }
}

/// The position of a payer's device, as it is reported to a payee.
package enum PayerProximity: String, Codable, Sendable {
    /// At the payee's device. Other positions are not reported.
    case tap
}

/// The answer to `POST /sessions/resolve`: the amount and the payee.
package struct ResolveReply: Codable, Equatable, Sendable {
    package var sid: SessionID
    package var amountCents: WireInteger
    package var payee: PayeeDisplay
    /// The payee's id. It is stable, distinguishes payees of the same name, and is not the user id.
    package var payeeID: String?
    package var currency: Currency?
    package var memo: String?
    package var expiresAt: Timestamp?
    package var status: SessionStatus?
    /// True if the payer may add a tip; otherwise absent.
    package var allowsTip: Bool?
    /// The contest that the payer enters by paying, if any.
    package var contest: DeskContest?
    /// The kind, `split` or `entry`, if several payers pay it. The amount is then the next share's.
    /// Otherwise the kind and the places are absent.
    package var kind: String?
    package var placeCount: Int64?
    package var placesPaid: Int64?
    package var placesHeld: Int64?
    package var paidCents: WireInteger?

    package init(
        sid: SessionID,
        amountCents: WireInteger,
        payee: PayeeDisplay,
        payeeID: String?,
        currency: Currency?,
        memo: String?,
        expiresAt: Timestamp?,
        status: SessionStatus?,
        allowsTip: Bool?,
        places: Places? = nil,
        contest: DeskContest? = nil
    ) {
        self.contest = contest
        self.sid = sid
        self.amountCents = amountCents
        self.payee = payee
        self.payeeID = payeeID
        self.currency = currency
        self.memo = memo
        self.expiresAt = expiresAt
        self.status = status
        self.allowsTip = allowsTip
        kind = places?.kind
        placeCount = places?.places
        placesPaid = places?.paid
        placesHeld = places?.held
        paidCents = places?.paidCents
    }

    /// The places, if several payers pay it.
    package var places: Places? { Places(kind, placeCount, placesPaid, placesHeld, paidCents) }

    /// The requested amount; in `usd` if the server names no currency.
    package var amount: Money { Money(minorUnits: amountCents.value, currency: currency ?? .usd) }

    enum CodingKeys: String, CodingKey {
        case allowsTip = "allows_tip"
        case amountCents = "amount_cents"
        case contest, currency
        case expiresAt = "exp_at"
        case kind, memo
        case paidCents = "paid_cents"
        case payee = "payee_display"
        case payeeID = "payee_id"
        case placeCount = "places"
        case placesHeld = "places_held"
        case placesPaid = "places_paid"
        case sid, status
    }
}

/// The payee as payers see it: a name, never an e-mail address or a user id.
package struct PayeeDisplay: Codable, Equatable, Sendable {
    package var name: String

    package init(name: String) {
        self.name = name
    }
}

/// The answer to `GET /readyz`.
package struct ReadyReply: Codable, Equatable, Sendable {
    package var status: String
}

/// The answer to `POST /sessions/lock`. The answer to `…/unlock` has no expiry.
package struct LockReply: Codable, Equatable, Sendable {
    package var ok: Bool
    /// The time until which this payer holds the session.
    package var lockExpiresAt: Timestamp?
    /// The share that this payer holds, if several pay the session.
    package var share: LockedShare?

    package init(ok: Bool, lockExpiresAt: Timestamp?, share: LockedShare? = nil) {
        self.ok = ok
        self.lockExpiresAt = lockExpiresAt
        self.share = share
    }

    enum CodingKeys: String, CodingKey {
        case lockExpiresAt = "lock_expires_at"
        case ok, share
    }
}

/// A payer's share of a session that several payers pay: a session of its own.
package struct LockedShare: Codable, Equatable, Sendable {
    package var sid: SessionID
    package var place: Int64
    package var amountCents: WireInteger

    package init(sid: SessionID, place: Int64, amountCents: WireInteger) {
        self.sid = sid
        self.place = place
        self.amountCents = amountCents
    }

    enum CodingKeys: String, CodingKey {
        case amountCents = "amount_cents"
        case place, sid
    }
}

/// A session as its payee, or the payer who holds its lock, may see it. It is the answer to
/// `GET /sessions/{sid}` and `…/cancel`, and the data of each event of
/// `GET /sessions/{sid}/events`.
package struct SessionReply: Codable, Equatable, Sendable {
    package var sid: SessionID
    package var status: SessionStatus
    package var amountCents: WireInteger
    package var currency: Currency?
    package var memo: String?
    package var expiresAt: Timestamp
    package var lockExpiresAt: Timestamp?
    package var paidAt: Timestamp?
    /// True if the payer may add a tip; otherwise absent.
    package var allowsTip: Bool?
    /// The tip that the payer gave, in addition to the amount; absent if the session allows none.
    package var tipCents: WireInteger?
    /// The amount refunded to the payer, tip included; absent if there is none.
    package var refundedCents: WireInteger?
    /// The contest that payers enter by paying, if any.
    package var contest: DeskContest?
    /// The kind, `split` or `entry`, if several payers pay it. Otherwise the kind and the places
    /// are absent.
    package var kind: String?
    package var placeCount: Int64?
    package var placesPaid: Int64?
    package var placesHeld: Int64?
    package var paidCents: WireInteger?
    package var paidShares: [SessionID]?
    /// The version, which grows by one with each change. It is the `id:` of the session's events.
    package var version: Int64
    /// The time at which a payer's device was close to the payee's. Only in an event that repeats
    /// the state; such an event has no `id:`.
    package var noticedAt: Timestamp?

    package init(
        sid: SessionID,
        status: SessionStatus,
        amountCents: WireInteger,
        currency: Currency?,
        memo: String?,
        expiresAt: Timestamp,
        lockExpiresAt: Timestamp?,
        paidAt: Timestamp?,
        allowsTip: Bool? = nil,
        tipCents: WireInteger? = nil,
        refundedCents: WireInteger? = nil,
        places: Places? = nil,
        version: Int64
    ) {
        self.sid = sid
        self.status = status
        self.amountCents = amountCents
        self.currency = currency
        self.memo = memo
        self.expiresAt = expiresAt
        self.lockExpiresAt = lockExpiresAt
        self.paidAt = paidAt
        self.allowsTip = allowsTip
        self.tipCents = tipCents
        self.refundedCents = refundedCents
        kind = places?.kind
        placeCount = places?.places
        placesPaid = places?.paid
        placesHeld = places?.held
        paidCents = places?.paidCents
        paidShares = places?.paidShares
        self.version = version
    }

    /// The places, if several payers pay it.
    package var places: Places? {
        Places(kind, placeCount, placesPaid, placesHeld, paidCents, paidShares)
    }

    enum CodingKeys: String, CodingKey {
        case allowsTip = "allows_tip"
        case amountCents = "amount_cents"
        case contest, currency
        case expiresAt = "exp_at"
        case kind
        case lockExpiresAt = "lock_expires_at"
        case memo
        case noticedAt = "noticed_at"
        case paidAt = "paid_at"
        case paidCents = "paid_cents"
        case paidShares = "paid_shares"
        case placeCount = "places"
        case placesHeld = "places_held"
        case placesPaid = "places_paid"
        case refundedCents = "refunded_cents"
        case sid, status
        case tipCents = "tip_cents"
        case version
    }
}
