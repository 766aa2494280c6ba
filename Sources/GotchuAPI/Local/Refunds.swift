package import GotchuCore

/// `POST /v1/refunds`: give back what a request was paid, whole or in part.
///
/// A refund is named by what is asked for: the same request, amount and reference again is the same
/// refund and pays nothing more, however much later and from whichever device of the payee, unless
/// the earlier one was declined. All that is left is another wish than the same amount in figures.
package struct NewRefund: Codable, Equatable, Sendable {
    package var sid: SessionID
    /// In minor units; all that has not gone back yet unless said.
    package var amountCents: Int64?
    /// Tells one refund from another of the same amount. At most 140 characters.
    package var reference: String?

    package init(sid: SessionID, amountCents: Int64? = nil, reference: String? = nil) {
        self.sid = sid
        self.amountCents = amountCents
        self.reference = reference
    }

    enum CodingKeys: String, CodingKey {
        case sid, reference
        case amountCents = "amount_cents"
    }
}
