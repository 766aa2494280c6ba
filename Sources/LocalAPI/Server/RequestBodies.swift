import GotchuAPI
import GotchuCore

// Strict parsing of the request bodies of the daemon's socket. An unknown member or an amount with
// a decimal point is refused.

extension NewRequest {
    init(_ given: JSONFields) throws(Problem) {
        var fields = given
        let amountCents = try fields.requiredInteger("amount_cents")
        let currency = try fields.currency("currency")
        let memo = try fields.shortText("memo", limit: 140)
        let ttl = try fields.integer("ttl_seconds")
        let allowsTip = try fields.boolean("allows_tip")
        let contestID = try fields.shortText("contest_id", limit: 36)
        let split = try fields.object("split").map { (given) throws(Problem) in
            var fields = given
            let count = try fields.integer("shares")
            let own = try fields.integers("share_cents", limit: 50)
            let isAllOrNothing = try fields.boolean("is_all_or_nothing")
            try fields.rejectUnreadMembers()
            return SplitTerms(
                shares: count.map { Int(clamping: $0) },
                shareCents: own,
                isAllOrNothing: isAllOrNothing
            )
        }
        try fields.rejectUnreadMembers()
        self.init(
            amountCents: amountCents,
            currency: currency,
            memo: memo,
            ttlSeconds: ttl.map { Int(clamping: $0) },
            // False is sent as absent: other payment servers may refuse a member that they do not
            // know.
            allowsTip: allowsTip == true ? true : nil,
            split: split,
            contestID: contestID
        )
    }
}

extension NewPayment {
    init(_ given: JSONFields) throws(Problem) {
        var fields = given
        let eid = try fields.eid("eid")
        let sid = try fields.parsed("sid", "the name of a session") { SessionID(rawValue: $0) }
        let confirmAmountCents = try fields.requiredInteger("confirm_amount_cents")
        let tipCents = try fields.integer("tip_cents")
        let confirmCurrency = try fields.currency("confirm_currency")
        let confirmPayee = try fields.string("confirm_payee")
        let confirmPayeeID = try fields.string("confirm_payee_id")
        let proximity = try fields.proximity("proximity")
        try fields.rejectUnreadMembers()
        self.init(
            eid: eid,
            sid: sid,
            confirmAmountCents: confirmAmountCents,
            tipCents: tipCents == 0 ? nil : tipCents,
            confirmCurrency: confirmCurrency,
            confirmPayee: confirmPayee,
            confirmPayeeID: confirmPayeeID,
            proximity: proximity
        )
    }
}

extension NewRefund {
    init(_ given: JSONFields) throws(Problem) {
        var fields = given
        let sid = try fields.sessionID("sid")
        let amountCents = try fields.integer("amount_cents")
        let currency = try fields.currency("currency")
        let reference = try fields.shortText("reference", limit: 140)
        try fields.rejectUnreadMembers()
        // Clients without a reference send none. An empty one would count as a different refund.
        guard reference != "" else {
            throw .invalid("reference must not be empty: leave it out, or name the refund.")
        }
        guard amountCents.map(Money.allowedRequest.contains) ?? true else {
            throw .invalid("amount_cents must be 1 to \(Money.allowedRequest.upperBound).")
        }
        self.init(sid: sid, amountCents: amountCents, currency: currency, reference: reference)
    }
}

extension NewPairing {
    init(_ given: JSONFields) throws(Problem) {
        var fields = given
        let name = try fields.shortText("name", limit: 40)
        let limit = try fields.integer("refunds_per_day_cents")
        try fields.rejectUnreadMembers()
        guard let name, !name.isEmpty else {
            throw .invalid("name must have 1 to 40 characters.")
        }
        guard limit.map(Money.allowedRequest.contains) ?? true else {
            throw .invalid(
                "refunds_per_day_cents must be 1 to \(Money.allowedRequest.upperBound)."
            )
        }
        self.init(name: name, refundsPerDayCents: limit)
    }
}

extension NewCalibration {
    init(_ given: JSONFields) throws(Problem) {
        var fields = given
        let adapter = try fields.string("adapter") ?? ""
        let tap = try fields.string("tap") ?? ""
        let metre = try fields.string("metre") ?? ""
        try fields.rejectUnreadMembers()
        self.init(adapter: adapter, tap: tap, metre: metre)
    }
}

extension ResolveRequest {
    init(_ given: JSONFields) throws(Problem) {
        var fields = given
        guard let eid = try fields.eid("eid") else { throw .invalid("eid is missing.") }
        try fields.rejectUnreadMembers()
        self.init(eid: eid)
    }
}

extension LocalLogin {
    init(_ given: JSONFields) throws(Problem) {
        var fields = given
        let token = try fields.string("token")
        let devEmail = try fields.string("dev_email")
        try fields.rejectUnreadMembers()
        self.init(token: token, devEmail: devEmail)
    }
}

extension JSONFields {
    /// Parses a required proximity: `tap` or `near`.
    fileprivate mutating func proximity(_ name: String) throws(Problem) -> Verdict? {
        try parsed(name, "tap or near") { text in
            [Verdict.tap, .near].first { $0.rawValue == text }
        }
    }
}
