package import GotchuCore

/// The answer to `POST /wallet/send`, once the payment is durable.
package struct SendReply: Codable, Equatable, Sendable {
    package var ok: Bool
    package var newBalanceCents: WireInteger
    /// The tip that was paid with the amount; absent if the session allows none.
    package var tipCents: WireInteger?
    package var transferID: String?

    package init(
        ok: Bool,
        newBalanceCents: WireInteger,
        tipCents: WireInteger?,
        transferID: String?
    ) {
        self.ok = ok
        self.newBalanceCents = newBalanceCents
        self.tipCents = tipCents
        self.transferID = transferID
    }

    enum CodingKeys: String, CodingKey {
        case newBalanceCents = "new_balance_cents"
        case ok
        case tipCents = "tip_cents"
        case transferID = "transfer_id"
    }
}

/// The answer to `GET /wallet/sends/{key}`: the definite outcome of a payment.
///
/// If the key has no outcome, the server answers 404 `NOT_FOUND`. The payment may then be resent.
package struct SendOutcomeReply: Codable, Equatable, Sendable {
    package var outcome: Outcome
    /// The HTTP status of the reply to the payment itself.
    package var status: Int
    package var sid: SessionID
    /// With `paid`: the id of the transfer.
    package var transferID: String?
    /// With `paid`: the payer's balance right after the payment.
    package var newBalanceCents: WireInteger?
    /// With `paid`: the tip, if the session allows one.
    package var tipCents: WireInteger?
    /// With `declined`: the code of the refusal.
    package var code: String?
    /// With `declined`: the sentence of the refusal.
    package var detail: String?

    package init(
        outcome: Outcome,
        status: Int,
        sid: SessionID,
        transferID: String? = nil,
        newBalanceCents: WireInteger? = nil,
        tipCents: WireInteger? = nil,
        code: String? = nil,
        detail: String? = nil
    ) {
        self.outcome = outcome
        self.status = status
        self.sid = sid
        self.transferID = transferID
        self.newBalanceCents = newBalanceCents
        self.tipCents = tipCents
        self.code = code
        self.detail = detail
    }

    package enum Outcome: String, Codable, Sendable {
        case paid, declined
    }

    enum CodingKeys: String, CodingKey {
        case code, detail
        case newBalanceCents = "new_balance_cents"
        case outcome, sid, status
        case tipCents = "tip_cents"
        case transferID = "transfer_id"
    }
}
