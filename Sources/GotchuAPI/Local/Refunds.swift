package import GotchuCore

/// `POST /v1/refunds`: refunds a paid request, in full or in part.
///
/// A refund is identified by its parameters: a repeat with the same request, amount and reference
/// is the same refund and pays nothing more, at any later time and from any of the payee's devices,
/// unless the earlier one was declined. A refund without an amount differs from one that gives the
/// same amount as a number.
package struct NewRefund: Codable, Equatable, Sendable {
    package var sid: SessionID
    /// The amount in minor units; by default all that has not been refunded.
    package var amountCents: Int64?
    /// The currency of the amount: the refund is refused if it is present and not the payment's. It
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

    /// Compares references byte for byte, like the refund's key: an accent in two encodings makes
    /// two references, although they are equal as `String`.
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
