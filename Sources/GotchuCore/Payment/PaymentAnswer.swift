/// The meaning of the payment server's answer to a call of a `MoneyFlow`.
package enum PaymentAnswer: Equatable, Sendable {
    /// The request was carried out. The receipt of a lock is empty.
    case done(Receipt)
    /// The request was refused. If `isReplay` is true, the server repeats a refusal stored under
    /// the key. That key can then never succeed.
    case refused(Decline, isReplay: Bool = false)
    /// The token was not accepted; nothing was decided about the payment.
    case unauthorized(Decline)
    /// No definite answer. `retryAfter` is the server's `Retry-After`, if it sent one.
    case unknown(retryAfter: Duration?)
    /// Nothing was sent: the current login or server is not the payment's.
    case notSent(UnresolvedReason)
}

/// The server's details of a completed payment or refund.
package struct Receipt: Equatable, Codable, Sendable {
    /// The payer's balance right after it, in minor units.
    package var newBalanceCents: Int64?
    package var transferID: String?
    /// For a refund: the part of it that was tip, in minor units, if the session allowed tips.
    package var tipCents: Int64?
    /// A Boolean that is true if the payment or refund was made under the same key before this flow
    /// began. No further money has moved.
    package var wasMadeBefore: Bool?

    package init(
        newBalanceCents: Int64? = nil,
        transferID: String? = nil,
        tipCents: Int64? = nil,
        wasMadeBefore: Bool? = nil
    ) {
        self.newBalanceCents = newBalanceCents
        self.transferID = transferID
        self.tipCents = tipCents
        self.wasMadeBefore = wasMadeBefore
    }
}

/// The reason why a payment was not made.
package struct Decline: Equatable, Codable, Sendable {
    /// The stable code of the server or this daemon.
    package var code: String
    /// The explanation for people; one sentence.
    package var detail: String

    package init(code: String, detail: String) {
        self.code = code
        self.detail = detail
    }

    static let sessionExpired = Decline(
        code: "SESSION_EXPIRED",
        detail: "The session expired before it could be paid."
    )

    /// The decline of a payment that a person cancelled before anything was sent.
    package static let cancelled = Decline(
        code: "PAYMENT_CANCELLED",
        detail: "It was cancelled before anything was sent."
    )

    /// The decline of a payment or refund that was begun, while nobody could be told so: its
    /// journal record was not certain, or the daemon ended before its caller had an answer.
    package static let notStarted = Decline(
        code: "PAYMENT_CANCELLED",
        detail: "It was not started: nothing was sent, and nothing will be."
    )

    /// The same refusal, worded for an earlier request whose answer was lost.
    ///
    /// The session existed when that request was sent. `NOT_FOUND` now means that the server's
    /// database is older than the payment or refund.
    var afterLostAnswer: Decline {
        guard code == "NOT_FOUND" else { return self }
        return Decline(
            code: code,
            detail: "The payment server does not know this session any more, as after a restore "
                + "from a backup, and has refused it for good: in its books no money has moved. "
                + "Ask its operator before you settle it in another way."
        )
    }

    /// A Boolean that is true if only the payment server gives this code, and only after it has
    /// looked up the key of a send or refund.
    var isDecidedByKey: Bool {
        switch code {
        case "INSUFFICIENT_WALLET_BALANCE", "SESSION_BUSY", "SESSION_NOT_LOCKED", "SESSION_PAID",
            "SESSION_CANCELLED", "SESSION_EXPIRED", "AMOUNT_CHANGED", "OWN_SESSION",
            "TIP_NOT_ALLOWED", "SESSION_NOT_PAID", "SESSION_REFUNDED", "REFUND_TOO_LARGE",
            "NOT_REFUNDABLE":
            true
        default: false
        }
    }
}
