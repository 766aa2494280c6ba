internal import GotchuAPI
internal import GotchuCore
internal import Hummingbird
internal import Ledger

extension Refusal {
    /// The problem on the wire. A remembered refusal is rendered again for each replay and must
    /// have the same bytes. The sentences are therefore constant.
    var problem: Problem {
        var problem = Problem(reason.code, detail: reason.sentence, retryable: reason.isRetryable)
        problem.requiredCents = required
        problem.availableCents = available
        return problem
    }

    /// The error to throw. It has a `Retry-After` if a retry may succeed.
    var thrown: any Error {
        guard reason.isRetryable else { return problem }
        return problem.retry(
            after: reason == .dailyLimit ? DailyBudget.secondsLeft(at: .now) : 1
        )
    }
}

extension Refusal.Reason {
    /// The code on the wire. Several reasons may share one.
    var code: ErrorCode {
        switch self {
        case .unknownUser: .unauthorized
        case .unknownSession: .notFound
        case .forbidden: .forbidden
        case .ownSession: .ownSession
        case .sessionBusy: .sessionBusy
        case .sessionNotLocked: .sessionNotLocked
        case .sessionPaid: .sessionPaid
        case .sessionCancelled: .sessionCancelled
        case .sessionExpired: .sessionExpired
        case .amountChanged: .amountChanged
        case .tipNotAllowed: .tipNotAllowed
        case .insufficientBalance: .insufficientWalletBalance
        case .keyReused: .idempotencyKeyReused
        case .tooManyLiveSessions: .rateLimited
        case .tooManyRotations: .tooManyRotations
        case .sessionNotPaid: .sessionNotPaid
        case .sessionRefunded: .sessionRefunded
        case .refundTooLarge: .refundTooLarge
        case .shareTaken: .shareTaken
        case .notRefundable: .notRefundable
        case .unknownRecord: .notFound
        case .depositTooLarge, .walletFull, .tooManyOpenDeposits, .tooManyDeposits: .depositLimit
        case .intentSettled: .intentSettled
        case .payeeNotOnboarded: .payeeNotOnboarded
        case .walletOwes: .walletOwes
        case .heldBalance: .insufficientWalletBalance
        case .withdrawalTooLate: .withdrawalTooLate
        case .noWalletInCurrency, .balanceTooLarge, .unknownEID: .validationError
        case .noFreeEID, .accountChanged: .tryAgain
        case .unreadable, .otherProvider: .internalError
        case .unknownContest: .contestNotFound
        case .notOrganizer, .notEntrant: .forbidden
        case .ownContest: .ownContest
        case .joinTokenRequired: .joinTokenRequired
        case .contestFull: .contestFull
        case .contestLocked: .contestLocked
        case .alreadyJoined: .alreadyJoined
        case .notJoined: .notJoined
        case .contestState: .contestState
        case .contestCancelled: .contestCancelled
        case .contestDisputed: .contestDisputed
        case .scoresChanged: .scoresChanged
        case .noScores: .noScores
        case .tooManyContests, .tooManyWithdrawals, .dailyLimit: .rateLimited
        case .contestDates: .validationError
        case .leftTooOften, .tooManyScores, .contestUnderReview, .potUnequal: .contestState
        }
    }

    fileprivate var sentence: String {
        switch self {
        case .unknownUser: "This server does not know the token's user. Log in again."
        case .unknownSession: "There is no such session."
        case .forbidden: "The session is somebody else's."
        case .ownSession: "Nobody can pay their own session."
        case .sessionBusy: "Another payer holds the session."
        case .sessionNotLocked: "The session must be locked first."
        case .sessionPaid: "This has been paid already."
        case .sessionCancelled: "The session was cancelled."
        case .sessionExpired: "The session has expired."
        case .amountChanged: "The session requests another amount than the payer saw."
        case .tipNotAllowed: "The session allows no tip, or none that large."
        case .insufficientBalance: "The wallet does not hold enough."
        case .keyReused: "The idempotency key was used for another payment or refund."
        case .tooManyLiveSessions: "Too many sessions of this payee are open."
        case .noWalletInCurrency: "You have no wallet in this currency: use your wallet's currency."
        case .balanceTooLarge: "The payee's wallet cannot hold that much."
        case .noFreeEID: "No free EID was found."
        case .sessionNotPaid: "The session was not paid, so nothing can be refunded."
        case .sessionRefunded: "All that was paid is refunded already."
        case .refundTooLarge: "That is more than what is left of the payment."
        case .shareTaken: "This share is taken, or there is no share with that number."
        case .notRefundable:
            "This cannot be refunded now: only a share that the payee has received, by its own id. "
                + "The bill's session lists them as paid_shares."
        case .unreadable: "The server cannot read what it stored. Its operator must look."
        case .unknownRecord: "There is nothing with this id."
        case .intentSettled: "The deposit has already ended. Look at its status."
        case .payeeNotOnboarded:
            "Payouts are not set up. Set them up first: gotchu-ctl payouts setup."
        case .walletOwes:
            "A card payment was taken back after its money was spent. Add what is owed first."
        case .heldBalance: "Recent credits are on hold, so less can be withdrawn now."
        case .withdrawalTooLate: "The withdrawal is under way. It can no longer be changed."
        case .accountChanged: "The wallet changed meanwhile. Nothing was taken."
        case .otherProvider: "This database belongs to another account at the provider."
        case .unknownContest: "There is no such contest, or it is not shown to the caller."
        case .notOrganizer: "Only the contest's organiser may do this."
        case .notEntrant: "Only those who have entered the contest may do this."
        case .ownContest: "The organiser scores the contest, and so cannot enter it."
        case .joinTokenRequired: "The contest is private: entering it needs its invitation."
        case .contestFull: "All places of the contest are taken. Nothing was charged."
        case .contestLocked: "The contest is locked. No money has moved."
        case .alreadyJoined: "The user has entered the contest already: nothing more was charged."
        case .notJoined: "The user has not entered the contest."
        case .contestState: "The contest's state does not allow this. No money has moved."
        case .contestCancelled: "The contest was cancelled. All stakes have gone back."
        case .contestDisputed: "The organiser disputes the scores: complete it again first."
        case .scoresChanged: "There are other scores than the caller knew. Look at them first."
        case .noScores: "No entry has a score yet."
        case .tooManyContests: "Too many contests of this organiser are open."
        case .depositTooLarge, .walletFull, .tooManyOpenDeposits, .tooManyDeposits,
            .tooManyWithdrawals, .contestDates, .leftTooOften, .tooManyScores,
            .contestUnderReview, .potUnequal, .dailyLimit:
            limitSentence
        case .unknownEID: "The EID to be replaced was never this session's."
        case .tooManyRotations: "The session has changed its EID too often. Keep the one it has."
        }
    }

    /// The sentence of a reason that is a limit.
    private var limitSentence: String {
        switch self {
        case .depositTooLarge:
            "That is more than may be put into this wallet at once. Nothing was charged."
        case .walletFull: "The wallet would hold more than it may. Nothing was charged."
        case .tooManyOpenDeposits:
            "Too many deposits are open. Pay one, or cancel it. Nothing was charged."
        case .tooManyDeposits:
            "Too many deposits were made within an hour. Wait a while. Nothing was charged."
        case .tooManyWithdrawals:
            "Too many withdrawals of this wallet are under way. Nothing was taken."
        case .dailyLimit:
            "This login has stored as much as it may in a day. It can go on after midnight (UTC)."
        case .contestDates:
            "The contest must lock in the future (locks_at), each date within the next 366 days."
        case .leftTooOften:
            "The user has left this contest too often to enter it again. Nothing was charged."
        case .tooManyScores:
            "The contest has as many scores as there may be in all. Complete or cancel it."
        case .contestUnderReview:
            "The time for objections is not over: nothing is paid before. No money has moved."
        case .potUnequal:
            "The contest's pot does not match its entries. Nothing moves: its operator must look."
        // SAFETY: `sentence` calls this only for the reasons above.
        default: "The contest does not allow this. No money has moved."
        }
    }

    /// A Boolean that is true if the same request may succeed later, without any action of the
    /// caller.
    fileprivate var isRetryable: Bool {
        switch self {
        case .tooManyLiveSessions, .noFreeEID, .accountChanged, .tooManyContests,
            .tooManyWithdrawals, .dailyLimit:
            true
        case .unknownContest, .notOrganizer, .notEntrant, .ownContest, .joinTokenRequired,
            .contestFull, .contestLocked, .alreadyJoined, .notJoined, .contestState,
            .contestCancelled, .contestDisputed, .scoresChanged, .noScores, .contestDates,
            .leftTooOften, .tooManyScores, .contestUnderReview, .potUnequal:
            false
        case .unknownUser, .unknownSession, .forbidden, .ownSession, .sessionBusy,
            .sessionNotLocked, .sessionPaid, .sessionCancelled, .sessionExpired, .amountChanged,
            .tipNotAllowed, .insufficientBalance, .keyReused, .noWalletInCurrency, .balanceTooLarge,
            .unknownEID, .tooManyRotations, .sessionNotPaid, .sessionRefunded, .refundTooLarge,
            .shareTaken, .notRefundable, .unreadable, .unknownRecord, .depositTooLarge, .walletFull,
            .tooManyOpenDeposits, .tooManyDeposits, .intentSettled, .payeeNotOnboarded, .walletOwes,
            .heldBalance, .withdrawalTooLate, .otherProvider:
            false
        }
    }
}

extension Result where Failure == Refusal {
    /// Returns the value, or throws the refusal.
    func accepted() throws -> Success {
        switch self {
        case .success(let value): return value
        case .failure(let refusal): throw refusal.thrown
        }
    }
}
