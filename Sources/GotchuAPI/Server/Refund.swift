/// The answer to `POST /sessions/{sid}/refund`, once the refund is durable.
package struct RefundReply: Codable, Equatable, Sendable {
    package var ok: Bool
    /// The whole refund, tip included, in minor units.
    package var amountCents: WireInteger
    /// The tip's part of the refund; absent if the session allows none.
    package var tipCents: WireInteger?
    /// The sum of the session's refunds, including this one.
    package var refundedCents: WireInteger
    /// The payee's balance right after the refund.
    package var newBalanceCents: WireInteger
    package var transferID: String
    /// A Boolean that is true if an earlier call with the same key made the refund. Sent as the
    /// header `Idempotent-Replayed`, not in the document.
    package var isReplay = false

    package init(
        ok: Bool,
        amountCents: WireInteger,
        tipCents: WireInteger?,
        refundedCents: WireInteger,
        newBalanceCents: WireInteger,
        transferID: String
    ) {
        self.ok = ok
        self.amountCents = amountCents
        self.tipCents = tipCents
        self.refundedCents = refundedCents
        self.newBalanceCents = newBalanceCents
        self.transferID = transferID
    }

    enum CodingKeys: String, CodingKey {
        case amountCents = "amount_cents"
        case newBalanceCents = "new_balance_cents"
        case ok
        case refundedCents = "refunded_cents"
        case tipCents = "tip_cents"
        case transferID = "transfer_id"
    }
}
