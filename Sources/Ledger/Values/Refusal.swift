/// A definite "no", with what the caller must know about it. A value, not an error: being refused
/// is an ordinary outcome.
package struct Refusal: Equatable, Sendable {
    package let reason: Reason
    /// With `insufficientBalance`: what the payment or refund needs, in minor units.
    package let required: Int64?
    /// With `insufficientBalance`: what the wallet has, in minor units.
    package let available: Int64?

    package init(_ reason: Reason, required: Int64? = nil, available: Int64? = nil) {
        self.reason = reason
        self.required = required
        self.available = available
    }

    /// Why. The raw values are stored with remembered refusals and never change.
    package enum Reason: String, CaseIterable, Sendable {
        /// The caller is not in these books.
        case unknownUser = "UNKNOWN_USER"
        case unknownSession = "UNKNOWN_SESSION"
        /// The session is another's.
        case forbidden = "FORBIDDEN"
        /// Nobody pays himself.
        case ownSession = "OWN_SESSION"
        /// Another payer holds the lock.
        case sessionBusy = "SESSION_BUSY"
        case sessionNotLocked = "SESSION_NOT_LOCKED"
        case sessionPaid = "SESSION_PAID"
        case sessionCancelled = "SESSION_CANCELLED"
        case sessionExpired = "SESSION_EXPIRED"
        /// The payer saw another amount than the session asks for.
        case amountChanged = "AMOUNT_CHANGED"
        case insufficientBalance = "INSUFFICIENT_BALANCE"
        /// The idempotency key was used with other parameters.
        case keyReused = "KEY_REUSED"
        case tooManyLiveSessions = "TOO_MANY_LIVE_SESSIONS"
        /// The payee has no wallet in that currency.
        case noWalletInCurrency = "NO_WALLET_IN_CURRENCY"
        /// Every proposed EID was taken.
        case noFreeEID = "NO_FREE_EID"
        /// The EID that is to be replaced was never this session's.
        case unknownEID = "UNKNOWN_EID"
        case tooManyRotations = "TOO_MANY_ROTATIONS"
        /// Only what was paid can go back.
        case sessionNotPaid = "SESSION_NOT_PAID"
        /// All of it has gone back already.
        case sessionRefunded = "SESSION_REFUNDED"
        /// More than what is left of the payment.
        case refundTooLarge = "REFUND_TOO_LARGE"
        /// The payee's balance would not fit.
        case balanceTooLarge = "BALANCE_TOO_LARGE"
    }
}
