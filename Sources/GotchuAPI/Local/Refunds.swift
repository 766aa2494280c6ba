package import GotchuCore

/// `POST /v1/refunds`: refunds a paid request, in full or in part.
///
/// A refund is identified by its parameters: the same request, amount and reference again is the
/// same refund and pays nothing more, however much later and from whichever device of the payee,
/// unless the earlier one was declined. All that is left is another refund than the same amount in
/// figures.
package struct NewRefund: Codable, Equatable, Sendable {
    package var sid: SessionID
    /// The amount in minor units; all that has not been refunded unless given.
    package var amountCents: Int64?
    /// The currency of the amount: if it is present and not the payment's, the refund is refused.
    /// It does not tell one refund from another.
    package var currency: Currency?
    /// A text that tells one refund from another of the same amount. At most 140 characters.
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

    /// Compares references byte for byte, as in the refund's key: an accent that is written in two
    /// ways makes two references, though to `String` they are the same text.
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
