/// The stable code of every problem that either API reports. Each code has exactly one HTTP status.
package enum ErrorCode: String, Codable, CaseIterable, Sendable {
    // Both APIs.
    case validationError = "VALIDATION_ERROR"
    case notFound = "NOT_FOUND"
    case methodNotAllowed = "METHOD_NOT_ALLOWED"
    case contentTooLarge = "CONTENT_TOO_LARGE"
    case unsupportedMediaType = "UNSUPPORTED_MEDIA_TYPE"
    case rateLimited = "RATE_LIMITED"
    case internalError = "INTERNAL_ERROR"
    case tryAgain = "TRY_AGAIN"

    // The payment server.
    case idempotencyKeyRequired = "IDEMPOTENCY_KEY_REQUIRED"
    case idempotencyKeyReused = "IDEMPOTENCY_KEY_REUSED"
    case unauthorized = "UNAUTHORIZED"
    case deviceCodeUsed = "DEVICE_CODE_USED"
    case deviceRevoked = "DEVICE_REVOKED"
    case insufficientWalletBalance = "INSUFFICIENT_WALLET_BALANCE"
    case forbidden = "FORBIDDEN"
    case ownSession = "OWN_SESSION"
    case sessionBusy = "SESSION_BUSY"
    case sessionNotLocked = "SESSION_NOT_LOCKED"
    case sessionPaid = "SESSION_PAID"
    case sessionCancelled = "SESSION_CANCELLED"
    case sessionExpired = "SESSION_EXPIRED"
    case amountChanged = "AMOUNT_CHANGED"
    case tipNotAllowed = "TIP_NOT_ALLOWED"
    case tooManyRotations = "TOO_MANY_ROTATIONS"
    case sessionNotPaid = "SESSION_NOT_PAID"
    case sessionRefunded = "SESSION_REFUNDED"
    case refundTooLarge = "REFUND_TOO_LARGE"
    case shareTaken = "SHARE_TAKEN"
    case notRefundable = "NOT_REFUNDABLE"
    case signatureInvalid = "SIGNATURE_INVALID"
    case fundingNotConfigured = "FUNDING_NOT_CONFIGURED"
    case depositLimit = "DEPOSIT_LIMIT"
    case intentSettled = "INTENT_SETTLED"
    case payeeNotOnboarded = "PAYEE_NOT_ONBOARDED"
    case walletOwes = "WALLET_OWES"
    case withdrawalTooLate = "WITHDRAWAL_TOO_LATE"
    case providerRefused = "PROVIDER_REFUSED"
    case providerUnavailable = "PROVIDER_UNAVAILABLE"

    // Contests.
    case contestFull = "CONTEST_FULL"
    case contestLocked = "CONTEST_LOCKED"
    case alreadyJoined = "ALREADY_JOINED"
    case ownContest = "OWN_CONTEST"
    case joinTokenRequired = "JOIN_TOKEN_REQUIRED"
    case contestNotFound = "CONTEST_NOT_FOUND"
    case contestState = "CONTEST_STATE"
    case contestCancelled = "CONTEST_CANCELLED"
    case contestDisputed = "CONTEST_DISPUTED"
    case scoresChanged = "SCORES_CHANGED"
    case noScores = "NO_SCORES"
    case notJoined = "NOT_JOINED"
    case rosterInvalid = "ROSTER_INVALID"

    // The daemon's socket.
    case notPermitted = "NOT_PERMITTED"
    case browserRefused = "BROWSER_REFUSED"
    case notLoggedIn = "NOT_LOGGED_IN"
    case payeeChanged = "PAYEE_CHANGED"
    case notNear = "NOT_NEAR"
    case ambiguous = "AMBIGUOUS"
    case paymentInProgress = "PAYMENT_IN_PROGRESS"
    case paymentCancelled = "PAYMENT_CANCELLED"
    case radioUnavailable = "RADIO_UNAVAILABLE"
    case serverUnreachable = "SERVER_UNREACHABLE"
    case badServerAnswer = "BAD_SERVER_ANSWER"
    case journalUnwritable = "JOURNAL_UNWRITABLE"
    case outcomeUnknown = "OUTCOME_UNKNOWN"

    var httpStatus: Int {
        switch self {
        case .validationError, .idempotencyKeyRequired, .signatureInvalid: 400
        case .unauthorized, .deviceCodeUsed, .deviceRevoked: 401
        case .insufficientWalletBalance: 402
        case .forbidden, .ownSession, .notPermitted, .browserRefused: 403
        case .contestFull, .contestLocked, .alreadyJoined, .ownContest, .joinTokenRequired: 403
        case .notFound, .fundingNotConfigured, .contestNotFound: 404
        case .methodNotAllowed: 405
        case .sessionBusy, .sessionNotLocked, .sessionPaid, .sessionCancelled, .amountChanged,
            .tooManyRotations, .payeeChanged, .notNear, .ambiguous, .paymentInProgress,
            .paymentCancelled, .notLoggedIn, .sessionNotPaid, .sessionRefunded, .refundTooLarge,
            .tipNotAllowed, .shareTaken, .notRefundable, .depositLimit, .intentSettled,
            .payeeNotOnboarded, .walletOwes, .withdrawalTooLate:
            409
        case .contestState, .contestCancelled, .contestDisputed, .scoresChanged, .noScores,
            .notJoined:
            409
        case .sessionExpired: 410
        case .contentTooLarge: 413
        case .unsupportedMediaType: 415
        case .idempotencyKeyReused, .rosterInvalid: 422
        case .rateLimited: 429
        case .internalError: 500
        case .providerRefused, .badServerAnswer: 502
        case .tryAgain, .providerUnavailable, .radioUnavailable, .serverUnreachable,
            .journalUnwritable, .outcomeUnknown:
            503
        }
    }
}
