package import GotchuCore

/// `POST /v1/payments`: pays what a person has seen and confirmed.
package struct NewPayment: Codable, Equatable, Sendable {
    /// The EID that the person picked or typed. One of `eid` and `sid` is required.
    package var eid: EID?
    package var sid: SessionID?
    /// The amount that the person saw. The payment is refused if it is another.
    package var confirmAmountCents: Int64
    /// The tip added to that amount. The payment is refused if the session allows no tip.
    package var tipCents: Int64?
    /// The currency that the person saw. The payment is refused if it is another.
    package var confirmCurrency: Currency?
    /// The payee's name that the person saw. The payment is refused if it is another.
    package var confirmPayee: String?
    /// The payee's unique id. The payment is refused if it is another.
    package var confirmPayeeID: String?
    /// The distance at which the EID must be heard now: `tap` or `near`. The payment is refused if
    /// the presence is ambiguous or farther. Absent if the person typed the EID.
    package var proximity: Verdict?

    package init(
        eid: EID? = nil,
        sid: SessionID? = nil,
        confirmAmountCents: Int64,
        tipCents: Int64? = nil,
        confirmCurrency: Currency? = nil,
        confirmPayee: String? = nil,
        confirmPayeeID: String? = nil,
        proximity: Verdict? = nil
    ) {
        self.eid = eid
        self.sid = sid
        self.confirmAmountCents = confirmAmountCents
        self.tipCents = tipCents
        self.confirmCurrency = confirmCurrency
        self.confirmPayee = confirmPayee
        self.confirmPayeeID = confirmPayeeID
        self.proximity = proximity
    }

    /// - Throws: A problem: 400 for an invalid body.
    package init(_ fields: JSONFields) throws(Problem) {
        var fields = fields
        eid = try fields.eid("eid")
        sid = try fields.parsed("sid", "the name of a session") { SessionID(rawValue: $0) }
        confirmAmountCents = try fields.requiredInteger("confirm_amount_cents")
        let tip = try fields.integer("tip_cents")
        tipCents = tip == 0 ? nil : tip
        confirmCurrency = try fields.currency("confirm_currency")
        confirmPayee = try fields.shortText("confirm_payee", limit: 140)
        confirmPayeeID = try fields.string("confirm_payee_id")
        proximity = try fields.parsed("proximity", "tap or near") { text in
            [Verdict.tap, .near].first { $0.rawValue == text }
        }
        try fields.rejectUnreadMembers()
    }

    enum CodingKeys: String, CodingKey {
        case eid, sid, proximity
        case confirmAmountCents = "confirm_amount_cents"
        case tipCents = "tip_cents"
        case confirmCurrency = "confirm_currency"
        case confirmPayee = "confirm_payee"
        case confirmPayeeID = "confirm_payee_id"
    }
}

/// A payment in the daemon's journal: `GET /v1/payments/{id}`.
package struct PaymentView: Codable, Equatable, Sendable {
    package var id: String
    /// The kind; absent for a plain payment.
    package var kind: Kind?
    package var state: State
    package var sid: SessionID
    package var eid: EID?
    /// The amount. For a refund: the whole refund, tip included.
    package var amountCents: Int64
    /// The tip, if any. For a payment: in addition to the amount. For a refund that is `paid`: the
    /// part of the amount that was tip.
    package var tipCents: Int64?
    package var currency: Currency
    package var payee: String
    /// For a payment: the payee's id, if the server gives one.
    package var payeeID: String?
    package var createdAt: Timestamp
    package var updatedAt: Timestamp
    /// With `declined`: the server's code, or `PAYMENT_CANCELLED`. Before the outcome is known: the
    /// code of the server's last answer, which decided nothing.
    package var code: String?
    /// One sentence about the state.
    package var detail: String
    /// The next step for the person, if any.
    package var nextStep: String?
    /// With `paid`: the new balance.
    package var newBalanceCents: Int64?
    package var transferID: String?
    /// For a refund that is `paid`: true if the same refund was made before. Nothing more was then
    /// refunded.
    package var wasMadeBefore: Bool?

    package init(
        id: String,
        kind: Kind? = nil,
        state: State,
        sid: SessionID,
        eid: EID?,
        amountCents: Int64,
        tipCents: Int64? = nil,
        currency: Currency,
        payee: String,
        payeeID: String? = nil,
        createdAt: Timestamp,
        updatedAt: Timestamp,
        code: String?,
        detail: String,
        nextStep: String?,
        newBalanceCents: Int64?,
        transferID: String?,
        wasMadeBefore: Bool? = nil
    ) {
        self.id = id
        self.kind = kind
        self.state = state
        self.sid = sid
        self.eid = eid
        self.amountCents = amountCents
        self.tipCents = tipCents
        self.currency = currency
        self.payee = payee
        self.payeeID = payeeID
        self.createdAt = createdAt
        self.updatedAt = updatedAt
        self.code = code
        self.detail = detail
        self.nextStep = nextStep
        self.newBalanceCents = newBalanceCents
        self.transferID = transferID
        self.wasMadeBefore = wasMadeBefore
    }

    package var amount: TippedAmount {
        let money = Money(minorUnits: amountCents, currency: currency)
        return TippedAmount(money, tip: tipCents, isIncluded: kind == .refund)
    }

    /// The kind of a payment that is not a plain one.
    package enum Kind: String, Codable, Sendable {
        /// A refund of one of this device's own requests.
        case refund
    }

    package enum State: String, Codable, CaseIterable, Sendable {
        /// The session is being locked. No money was sent yet, and the payment can be cancelled.
        case locking
        /// The session is locked; the money is being sent.
        case sending
        /// The server gave no definite answer. The payment is sent again with the same key.
        case unknown
        /// The money has moved.
        case paid
        /// Definitely not paid; `code` is the reason.
        case declined

        package var isFinal: Bool {
            switch self {
            case .paid, .declined: true
            case .locking, .sending, .unknown: false
            }
        }
    }

    enum CodingKeys: String, CodingKey {
        case id, kind, state, sid, eid, currency, payee, code, detail
        case amountCents = "amount_cents"
        case tipCents = "tip_cents"
        case payeeID = "payee_id"
        case createdAt = "created_at"
        case updatedAt = "updated_at"
        case nextStep = "next_step"
        case newBalanceCents = "new_balance_cents"
        case transferID = "transfer_id"
        case wasMadeBefore = "made_before"
    }
}

/// `GET /v1/payments`: the journal's newest payments, newest first.
package struct PaymentsReply: Codable, Equatable, Sendable {
    package var payments: [PaymentView]

    package init(payments: [PaymentView]) {
        self.payments = payments
    }
}
