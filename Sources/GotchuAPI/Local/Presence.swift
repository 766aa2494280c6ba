package import GotchuCore

/// `GET /v1/sessions`: the presences heard now, nearest first.
package struct PresencesReply: Codable, Equatable, Sendable {
    package var sessions: [PresenceView]

    package init(sessions: [PresenceView]) {
        self.sessions = sessions
    }
}

/// The daemon's view of one EID nearby.
package struct PresenceView: Codable, Equatable, Sendable {
    package var eid: EID
    package var verdict: Verdict
    /// The last level in dBm; absent if none was reported yet.
    package var rssiDBm: Int?
    /// The filtered level, on which the verdict is based, in dBm.
    package var smoothedDBm: Double?
    /// The lead over the next best presence in dB; negative if another leads.
    package var marginDB: Double?
    package var carrier: Sighting.Carrier
    package var adapter: String
    package var firstHeardAt: Timestamp
    package var lastHeardAt: Timestamp
    /// The recent advertisements per second.
    package var rateHz: Double
    /// The reason for the verdict: one short sentence.
    package var reason: String
    /// The EID's session, once the payment server has resolved it.
    package var session: ResolvedSession?

    package init(
        eid: EID,
        verdict: Verdict,
        rssiDBm: Int?,
        smoothedDBm: Double?,
        marginDB: Double?,
        carrier: Sighting.Carrier,
        adapter: String,
        firstHeardAt: Timestamp,
        lastHeardAt: Timestamp,
        rateHz: Double,
        reason: String,
        session: ResolvedSession? = nil
    ) {
        self.eid = eid
        self.verdict = verdict
        self.rssiDBm = rssiDBm
        self.smoothedDBm = smoothedDBm
        self.marginDB = marginDB
        self.carrier = carrier
        self.adapter = adapter
        self.firstHeardAt = firstHeardAt
        self.lastHeardAt = lastHeardAt
        self.rateHz = rateHz
        self.reason = reason
        self.session = session
    }

    // Sorted by their names in JSON: this order is encoded fastest (`CanonicalJSON`).
    enum CodingKeys: String, CodingKey {
        case adapter, carrier, eid
        case firstHeardAt = "first_heard_at"
        case lastHeardAt = "last_heard_at"
        case marginDB = "margin_db"
        case rateHz = "rate_hz"
        case reason
        case rssiDBm = "rssi_dbm"
        case session
        case smoothedDBm = "smoothed_dbm"
        case verdict
    }
}

/// An EID's session, as the payment server resolved it: `POST /v1/resolve`.
package struct ResolvedSession: Codable, Equatable, Sendable {
    package var sid: SessionID
    package var amountCents: Int64
    package var currency: Currency
    package var payee: String
    /// The payee's id, if the server gives one. It distinguishes payees of the same name.
    package var payeeID: String?
    /// True if this device has paid this payee before; only in the answer to `POST /v1/resolve`.
    package var isPayeeKnown: Bool?
    package var memo: String?
    package var status: SessionStatus?
    package var expiresAt: Timestamp?
    /// True if the payer may add a tip; absent otherwise.
    package var allowsTip: Bool?
    /// The places, if several payers pay it. The amount is then the next share's.
    package var places: Places?

    package init(
        sid: SessionID,
        amountCents: Int64,
        currency: Currency,
        payee: String,
        payeeID: String?,
        memo: String?,
        status: SessionStatus?,
        expiresAt: Timestamp?,
        allowsTip: Bool? = nil,
        places: Places? = nil
    ) {
        self.sid = sid
        self.amountCents = amountCents
        self.currency = currency
        self.payee = payee
        self.payeeID = payeeID
        self.memo = memo
        self.status = status
        self.expiresAt = expiresAt
        self.allowsTip = allowsTip
        self.places = places
    }

    package var amount: Money { Money(minorUnits: amountCents, currency: currency) }

    enum CodingKeys: String, CodingKey {
        case sid, currency, payee, memo, places, status
        case amountCents = "amount_cents"
        case payeeID = "payee_id"
        case isPayeeKnown = "payee_known"
        case expiresAt = "expires_at"
        case allowsTip = "allows_tip"
    }
}
