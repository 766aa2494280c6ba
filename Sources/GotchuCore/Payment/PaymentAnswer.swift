/// What a payment server's answer to a lock or a send means for the payment.
package enum PaymentAnswer: Equatable, Sendable {
    /// Done. The receipt is empty for a lock.
    case done(Receipt)
    /// Definitely not done, and the same request would be refused again.
    case refused(Decline)
    /// The token was not accepted; nothing was decided about the payment.
    case unauthorized(Decline)
    /// Nobody knows: no answer, or one that says nothing definite. `retryAfter` if the server said
    /// so.
    case unknown(retryAfter: Duration?)
}

/// What the server told of a payment that it made.
package struct Receipt: Equatable, Codable, Sendable {
    /// The payer's balance right after it, in minor units.
    package var newBalanceCents: Int64?
    package var transferID: String?

    package init(newBalanceCents: Int64? = nil, transferID: String? = nil) {
        self.newBalanceCents = newBalanceCents
        self.transferID = transferID
    }
}

/// Why a payment was not made.
package struct Decline: Equatable, Codable, Sendable {
    /// The stable code, as the server or this daemon gave it.
    package var code: String
    /// One sentence.
    package var detail: String

    package init(code: String, detail: String) {
        self.code = code
        self.detail = detail
    }

    static let sessionExpired = Decline(
        code: "SESSION_EXPIRED",
        detail: "The session expired before the payment server could be reached."
    )

    /// Whether only the payment server itself, having looked the key up, answers a send with this
    /// code.
    var isDecidedByKey: Bool {
        switch code {
        case "INSUFFICIENT_WALLET_BALANCE", "SESSION_BUSY", "SESSION_NOT_LOCKED", "SESSION_PAID",
            "SESSION_CANCELLED", "SESSION_EXPIRED", "AMOUNT_CHANGED", "OWN_SESSION",
            "SESSION_NOT_PAID", "SESSION_REFUNDED", "REFUND_TOO_LARGE":
            true
        default: false
        }
    }
}

/// How a payment ended, definitely.
package enum PaymentEnd: Equatable, Sendable {
    case paid(Receipt)
    case declined(Decline)
}
