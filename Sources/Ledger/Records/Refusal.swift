/// A definite refusal, with the amounts that the caller needs. An ordinary outcome, not a failure.
package struct Refusal: Error, Equatable, Sendable, Codable {
    package let reason: Reason
    /// With `insufficientBalance`, `heldBalance`, `depositTooLarge` and `walletFull`: the requested
    /// amount, in minor units.
    package let required: Int64?
    /// With the same reasons: the amount that is possible, in minor units.
    package let available: Int64?

    package init(_ reason: Reason, required: Int64? = nil, available: Int64? = nil) {
        self.reason = reason
        self.required = required
        self.available = available
    }

    /// The reasons. The raw values are stored with refusals and must never change.
    package enum Reason: String, CaseIterable, Sendable, Codable {
        /// The user does not exist in this ledger.
        case unknownUser = "UNKNOWN_USER"
        case unknownSession = "UNKNOWN_SESSION"
        /// The session belongs to another user.
        case forbidden = "FORBIDDEN"
        /// Payer and payee are the same user.
        case ownSession = "OWN_SESSION"
        /// Another payer holds the lock.
        case sessionBusy = "SESSION_BUSY"
        case sessionNotLocked = "SESSION_NOT_LOCKED"
        case sessionPaid = "SESSION_PAID"
        case sessionCancelled = "SESSION_CANCELLED"
        case sessionExpired = "SESSION_EXPIRED"
        /// The amount that the payer saw differs from the session's.
        case amountChanged = "AMOUNT_CHANGED"
        /// The session allows no tips, or the payment would exceed the maximum.
        case tipNotAllowed = "TIP_NOT_ALLOWED"
        case insufficientBalance = "INSUFFICIENT_BALANCE"
        /// The idempotency key was used with other parameters.
        case keyReused = "KEY_REUSED"
        case tooManyLiveSessions = "TOO_MANY_LIVE_SESSIONS"
        /// A party has no account in that currency.
        case noWalletInCurrency = "NO_WALLET_IN_CURRENCY"
        /// Every proposed EID was taken.
        case noFreeEID = "NO_FREE_EID"
        /// The EID to replace never belonged to this session.
        case unknownEID = "UNKNOWN_EID"
        case tooManyRotations = "TOO_MANY_ROTATIONS"
        /// Only a paid session can be refunded.
        case sessionNotPaid = "SESSION_NOT_PAID"
        /// The whole payment has been refunded already.
        case sessionRefunded = "SESSION_REFUNDED"
        /// The amount exceeds what has not been refunded yet.
        case refundTooLarge = "REFUND_TOO_LARGE"
        /// The share of a split bill is held or paid, or there is no such share.
        case shareTaken = "SHARE_TAKEN"
        /// The payment cannot be refunded separately, or not yet.
        case notRefundable = "NOT_REFUNDABLE"
        /// The caller has no such record.
        case unknownRecord = "UNKNOWN_RECORD"
        /// The deposit exceeds this user's maximum.
        case depositTooLarge = "DEPOSIT_TOO_LARGE"
        /// The deposit would raise the balance above this user's maximum.
        case walletFull = "WALLET_FULL"
        /// The user has the maximum number of open deposits.
        case tooManyOpenDeposits = "TOO_MANY_OPEN_DEPOSITS"
        /// The user has made the maximum number of deposits per hour.
        case tooManyDeposits = "TOO_MANY_DEPOSITS"
        /// The deposit already has another outcome.
        case intentSettled = "INTENT_SETTLED"
        /// The payee's account at the provider cannot receive money.
        case payeeNotOnboarded = "PAYEE_NOT_ONBOARDED"
        /// Too much of the balance is too recent to be withdrawn.
        case heldBalance = "HELD_BALANCE"
        /// The user has the maximum number of withdrawals in progress.
        case tooManyWithdrawals = "TOO_MANY_WITHDRAWALS"
        /// The user owes money that the provider took back.
        case walletOwes = "WALLET_OWES"
        /// The provider may already be paying the withdrawal.
        case withdrawalTooLate = "WITHDRAWAL_TOO_LATE"
        /// The account has changed since its credits were summed.
        case accountChanged = "ACCOUNT_CHANGED"
        /// The ledger belongs to another account or mode of the provider.
        case otherProvider = "OTHER_PROVIDER"
        case unknownContest = "UNKNOWN_CONTEST"
        /// Only the contest's organiser may do this.
        case notOrganizer = "NOT_ORGANIZER"
        /// Only an entrant of the contest may do this.
        case notEntrant = "NOT_ENTRANT"
        /// The organiser enters the scores, and so may not take part.
        case ownContest = "OWN_CONTEST"
        case joinTokenRequired = "JOIN_TOKEN_REQUIRED"
        case contestFull = "CONTEST_FULL"
        case contestLocked = "CONTEST_LOCKED"
        case alreadyJoined = "ALREADY_JOINED"
        case notJoined = "NOT_JOINED"
        /// The contest's state does not allow this.
        case contestState = "CONTEST_STATE"
        case contestCancelled = "CONTEST_CANCELLED"
        case contestDisputed = "CONTEST_DISPUTED"
        /// The scores have changed since the organiser last saw them.
        case scoresChanged = "SCORES_CHANGED"
        case noScores = "NO_SCORES"
        case tooManyContests = "TOO_MANY_CONTESTS"
        /// The closing time is in the past, or a date is too far in the future.
        case contestDates = "CONTEST_DATES"
        /// The user has left the contest the maximum number of times.
        case leftTooOften = "LEFT_TOO_OFTEN"
        case tooManyScores = "TOO_MANY_SCORES"
        /// The objection period has not ended.
        case contestUnderReview = "CONTEST_UNDER_REVIEW"
        /// A contest's pot does not equal the sum of its entries.
        case potUnequal = "POT_UNEQUAL"
        /// The user has written as much as one may in a day.
        case dailyLimit = "DAILY_LIMIT"
        /// A balance would overflow.
        case balanceTooLarge = "BALANCE_TOO_LARGE"
        /// The database holds a record that cannot be read.
        case unreadable = "UNREADABLE"
    }

    /// A Boolean that is true if the reason is an unknown session.
    var isUnknownSession: Bool { reason == .unknownSession }

    /// A Boolean that is true if the refusal is stored under the idempotency key. Other refusals
    /// concern permissions or conditions that may change; the command is decided again each time.
    var isRemembered: Bool {
        switch reason {
        case .unknownUser, .unknownRecord, .forbidden, .ownSession, .keyReused, .accountChanged,
            .otherProvider, .unreadable, .tooManyWithdrawals, .dailyLimit:
            false
        case .unknownContest, .notOrganizer, .notEntrant, .ownContest, .joinTokenRequired,
            .contestUnderReview, .potUnequal:
            false
        default: true
        }
    }
}
