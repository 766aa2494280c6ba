/// A definite refusal, with the figures that the caller needs. An ordinary outcome, not a failure.
package struct Refusal: Error, Equatable, Sendable, Codable {
    package let reason: Reason
    /// With `insufficientBalance`, `heldBalance`, `depositTooLarge` and `walletFull`: the wanted
    /// amount, in minor units.
    package let required: Int64?
    /// With the same: what the account can give or take, in minor units.
    package let available: Int64?

    package init(_ reason: Reason, required: Int64? = nil, available: Int64? = nil) {
        self.reason = reason
        self.required = required
        self.available = available
    }

    /// The reasons. The raw values are stored with remembered refusals and never change.
    package enum Reason: String, CaseIterable, Sendable, Codable {
        /// The caller is not in this ledger.
        case unknownUser = "UNKNOWN_USER"
        case unknownSession = "UNKNOWN_SESSION"
        /// The session is another's.
        case forbidden = "FORBIDDEN"
        /// Nobody pays themselves.
        case ownSession = "OWN_SESSION"
        /// Another payer holds the lock.
        case sessionBusy = "SESSION_BUSY"
        case sessionNotLocked = "SESSION_NOT_LOCKED"
        case sessionPaid = "SESSION_PAID"
        case sessionCancelled = "SESSION_CANCELLED"
        case sessionExpired = "SESSION_EXPIRED"
        /// The payer saw another amount than the session asks for.
        case amountChanged = "AMOUNT_CHANGED"
        /// The session allows no tip, or the payment would be larger than any may be.
        case tipNotAllowed = "TIP_NOT_ALLOWED"
        case insufficientBalance = "INSUFFICIENT_BALANCE"
        /// The idempotency key was used with other parameters.
        case keyReused = "KEY_REUSED"
        case tooManyLiveSessions = "TOO_MANY_LIVE_SESSIONS"
        /// A party has no account in that currency.
        case noWalletInCurrency = "NO_WALLET_IN_CURRENCY"
        /// Every proposed EID was taken.
        case noFreeEID = "NO_FREE_EID"
        /// The EID that is to be replaced was never this session's.
        case unknownEID = "UNKNOWN_EID"
        case tooManyRotations = "TOO_MANY_ROTATIONS"
        /// Only what was paid can be refunded.
        case sessionNotPaid = "SESSION_NOT_PAID"
        /// All of it is refunded already.
        case sessionRefunded = "SESSION_REFUNDED"
        /// More than what is left of the payment.
        case refundTooLarge = "REFUND_TOO_LARGE"
        /// The share of a bill is held or paid, or there is none of that number.
        case shareTaken = "SHARE_TAKEN"
        /// A payment that is not to be refunded by itself, or not yet.
        case notRefundable = "NOT_REFUNDABLE"
        /// The caller has no such record.
        case unknownRecord = "UNKNOWN_RECORD"
        /// The deposit is larger than one of this user may be.
        case depositTooLarge = "DEPOSIT_TOO_LARGE"
        /// The deposit would lead to a larger balance than this user may have.
        case walletFull = "WALLET_FULL"
        /// The user has as many open deposits as one may have.
        case tooManyOpenDeposits = "TOO_MANY_OPEN_DEPOSITS"
        /// The user has made as many deposits as one may within an hour.
        case tooManyDeposits = "TOO_MANY_DEPOSITS"
        /// The deposit has come to another end.
        case intentSettled = "INTENT_SETTLED"
        /// The payee's account at the provider cannot receive money.
        case payeeNotOnboarded = "PAYEE_NOT_ONBOARDED"
        /// Most of the balance is too young to be withdrawn.
        case heldBalance = "HELD_BALANCE"
        /// The user has as many withdrawals under way as one may have.
        case tooManyWithdrawals = "TOO_MANY_WITHDRAWALS"
        /// Money that the provider took back is owed.
        case walletOwes = "WALLET_OWES"
        /// The provider may be paying it already.
        case withdrawalTooLate = "WITHDRAWAL_TOO_LATE"
        /// The account has changed since its credits were added up.
        case accountChanged = "ACCOUNT_CHANGED"
        /// The books belong to another account or mode of the provider.
        case otherProvider = "OTHER_PROVIDER"
        case unknownContest = "UNKNOWN_CONTEST"
        /// Only a contest's organiser may do it.
        case notOrganizer = "NOT_ORGANIZER"
        /// Only who is in a contest may do it.
        case notEntrant = "NOT_ENTRANT"
        /// The organiser scores, and so may not enter.
        case ownContest = "OWN_CONTEST"
        case joinTokenRequired = "JOIN_TOKEN_REQUIRED"
        case contestFull = "CONTEST_FULL"
        case contestLocked = "CONTEST_LOCKED"
        case alreadyJoined = "ALREADY_JOINED"
        case notJoined = "NOT_JOINED"
        /// Another state allows it.
        case contestState = "CONTEST_STATE"
        case contestCancelled = "CONTEST_CANCELLED"
        case contestDisputed = "CONTEST_DISPUTED"
        /// There are newer scores than the organiser knew.
        case scoresChanged = "SCORES_CHANGED"
        case noScores = "NO_SCORES"
        case tooManyContests = "TOO_MANY_CONTESTS"
        /// The entries close in the past, or a date is too far ahead.
        case contestDates = "CONTEST_DATES"
        /// The user has left the contest as often as one may.
        case leftTooOften = "LEFT_TOO_OFTEN"
        case tooManyScores = "TOO_MANY_SCORES"
        /// The time for objections is not over.
        case contestUnderReview = "CONTEST_UNDER_REVIEW"
        /// A contest's pot is not what its entries say.
        case potUnequal = "POT_UNEQUAL"
        /// A balance would not fit.
        case balanceTooLarge = "BALANCE_TOO_LARGE"
        /// The database holds a record that cannot be read.
        case unreadable = "UNREADABLE"
    }

    /// A Boolean that is true if there is no such record, as far as the caller may know.
    var isOfUnknownRecord: Bool { reason == .unknownSession }

    /// A Boolean that is true if it is remembered with a key. Refusals about permissions are no
    /// decisions about money: they are made anew each time.
    var isRemembered: Bool {
        switch reason {
        case .unknownUser, .unknownRecord, .forbidden, .ownSession, .keyReused, .accountChanged,
            .otherProvider, .unreadable, .tooManyWithdrawals:
            false
        case .unknownContest, .notOrganizer, .notEntrant, .ownContest, .joinTokenRequired,
            .contestUnderReview, .potUnequal:
            false
        default: true
        }
    }
}
