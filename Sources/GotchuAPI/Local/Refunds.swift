package import GotchuCore

/// `POST /v1/refunds`: refunds a paid request, in full or in part.
///
/// A refund is identified by its request, amount and reference. A repeat with the same three is the
/// same refund and pays nothing more. That holds at any later time and on any of the payee's
/// devices, unless the earlier refund was declined. A refund without an amount differs from one
/// that gives the same amount as a number.
package struct NewRefund: Codable, Equatable, Sendable {
    package var sid: SessionID
    /// The amount in minor units; by default all that has not been refunded.
    package var amountCents: Int64?
    /// The currency of the amount. The refund is refused if it is not the payment's. The currency
    /// does not distinguish refunds.
    package var currency: Currency?
    /// A text that distinguishes refunds of the same amount. At most 140 characters.
    package var reference: String?

    package init(
        sid: SessionID,
        amountCents: Int64? = nil,
        currency: Currency? = nil,
        reference: String? = nil
    ) {
        self.sid = sid
        self.amountCents = amountCents
        self.currency = currency
        self.reference = reference
    }

    /// - Throws: A problem: 400 for an invalid body.
    package init(_ fields: JSONFields) throws(Problem) {
        var fields = fields
        sid = try fields.sessionID("sid")
        amountCents = try fields.integer("amount_cents")
        currency = try fields.currency("currency")
        reference = try fields.shortText("reference", limit: 140)
        try fields.rejectUnreadMembers()
        // Clients without a reference send none. An empty one would count as a different refund.
        guard reference != "" else {
            throw .invalid("reference must not be empty: leave it out, or name the refund.")
        }
        guard amountCents.map(Money.allowedRequest.contains) ?? true else {
            throw .invalid("amount_cents must be 1 to \(Money.allowedRequest.upperBound).")
        }
    }

    /// Compares references byte for byte, as the refund's key does. An accent in two encodings
    /// makes two references, although the strings are equal.
    package static func == (left: NewRefund, right: NewRefund) -> Bool {
        left.sid == right.sid && left.amountCents == right.amountCents
            && left.currency == right.currency
            && left.reference.map { Array($0.utf8) } == right.reference.map { Array($0.utf8) }
    }

    enum CodingKeys: String, CodingKey {
        case sid, currency, reference
        case amountCents = "amount_cents"
    }
}
