/// The meaning of the payment server's answer to a lock or a send.
package enum PaymentAnswer: Equatable, Sendable {
    /// It was carried out. The receipt of a lock is empty.
    case done(Receipt)
    /// Not done. `isReplay`: the server had remembered this refusal under the key and repeats it:
    /// nothing can ever be done under that key.
    case refused(Decline, isReplay: Bool = false)
    /// The token was not accepted; nothing was decided about the payment.
    case unauthorized(Decline)
    /// No answer, or one that says nothing definite. `retryAfter` if the server said so.
    case unknown(retryAfter: Duration?)
    /// No byte has left: this login or this server is not the payment's.
    case notAsked(UnresolvedReason)
}

/// The server's particulars of a payment or refund that it made.
package struct Receipt: Equatable, Codable, Sendable {
    /// The payer's balance right after it, in minor units.
    package var newBalanceCents: Int64?
    package var transferID: String?
    /// With a refund: the part of it that was tip, in minor units, if the session allowed tips.
    package var tipCents: Int64?
    /// A Boolean that is true if it was made under the same key before this payment or refund
    /// began: nothing more has moved.
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
    /// One sentence.
    package var detail: String

    package init(code: String, detail: String) {
        self.code = code
        self.detail = detail
    }

    static let sessionExpired = Decline(
        code: "SESSION_EXPIRED",
        detail: "The session expired before it could be paid."
    )

    /// The cancellation by the person, before anything was sent.
    package static let cancelled = Decline(
        code: "PAYMENT_CANCELLED",
        detail: "It was cancelled before anything was sent."
    )

    /// The same refusal in the words that it needs after a send whose answer was lost.
    ///
    /// The server had known the session, or it could not have been locked: that it knows it no more
    /// means that its books are older than the payment.
    var afterLostAnswer: Decline {
        guard code == "NOT_FOUND" else { return self }
        return Decline(
            code: code,
            detail: "The payment server does not know this session any more, as after a restore "
                + "from a backup, and has refused it for good: in its books no money has moved. "
                + "Ask its operator before you settle it in another way."
        )
    }

    /// A Boolean that is true if only the payment server itself, after looking the key up, answers
    /// a send with this code.
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
