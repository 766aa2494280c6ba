import GotchuAPI
import ServiceProcess

extension ErrorCode {
    /// The exit status of a command that failed with this problem.
    var exitStatus: ExitStatus {
        switch self {
        case .notFound, .insufficientWalletBalance, .ownSession, .sessionBusy, .sessionNotLocked,
            .sessionPaid, .sessionCancelled, .sessionExpired, .amountChanged, .payeeChanged,
            .notNear, .ambiguous, .paymentInProgress, .paymentCancelled, .tooManyRotations,
            .sessionNotPaid, .sessionRefunded, .refundTooLarge, .tipNotAllowed, .shareTaken,
            .notRefundable, .depositLimit,
            .intentSettled, .payeeNotOnboarded, .walletOwes, .withdrawalTooLate, .providerRefused:
            .negative
        case .contestFull, .contestLocked, .alreadyJoined, .ownContest, .joinTokenRequired,
            .contestNotFound, .contestState, .contestCancelled, .contestDisputed, .scoresChanged,
            .noScores, .notJoined, .rosterInvalid:
            .negative
        case .validationError, .contentTooLarge: .badData
        case .internalError, .idempotencyKeyRequired, .idempotencyKeyReused,
            .unsupportedMediaType, .signatureInvalid, .badServerAnswer:
            .bug
        case .radioUnavailable, .journalUnwritable: .inputOutput
        case .rateLimited, .tryAgain, .serverUnreachable, .providerUnavailable, .outcomeUnknown:
            .tryAgain
        case .methodNotAllowed: .apiMismatch
        case .forbidden, .notPermitted, .browserRefused: .notPermitted
        case .unauthorized, .deviceCodeUsed, .deviceRevoked, .notLoggedIn, .fundingNotConfigured:
            .configuration
        }
    }

    /// The command that usually helps; for problems without a fix.
    var defaultFix: String {
        switch self {
        case .unauthorized, .deviceCodeUsed, .deviceRevoked, .notLoggedIn: "gotchu-ctl login"
        case .insufficientWalletBalance: "gotchu-ctl wallet"
        case .depositLimit, .intentSettled: "gotchu-ctl wallet deposits"
        case .payeeNotOnboarded: "gotchu-ctl payouts setup"
        case .walletOwes: "gotchu-ctl wallet add"
        case .withdrawalTooLate: "gotchu-ctl payouts"
        case .notNear, .ambiguous: "gotchu-ctl scan --explain"
        case .notFound, .ownSession, .sessionBusy, .sessionNotLocked, .sessionPaid,
            .sessionCancelled, .sessionExpired, .amountChanged, .payeeChanged, .tooManyRotations,
            .shareTaken:
            "gotchu-ctl scan"
        case .contestFull, .contestLocked, .alreadyJoined, .ownContest, .joinTokenRequired,
            .contestNotFound, .contestState, .contestCancelled, .contestDisputed, .notJoined:
            "gotchu-ctl contest list"
        case .scoresChanged, .noScores: "gotchu-ctl contest board"
        case .rosterInvalid: "gotchu-ctl contest roster"
        case .paymentCancelled, .tipNotAllowed: "gotchu-ctl pay"
        case .paymentInProgress, .sessionNotPaid, .sessionRefunded, .refundTooLarge,
            .outcomeUnknown:
            "gotchu-ctl history"
        case .notRefundable: "gotchu-ctl earnings history"
        case .validationError, .contentTooLarge: "gotchu-ctl --help"
        case .radioUnavailable, .journalUnwritable, .serverUnreachable, .internalError,
            .idempotencyKeyRequired, .idempotencyKeyReused, .unsupportedMediaType,
            .methodNotAllowed, .forbidden, .notPermitted, .browserRefused, .signatureInvalid,
            .fundingNotConfigured, .providerRefused, .badServerAnswer:
            "gotchu-ctl doctor"
        case .rateLimited, .tryAgain, .providerUnavailable: "gotchu-ctl status"
        }
    }
}

/// The advice for a login that may not move money. The server knows whether it is a device's.
enum DeviceAdvice {
    static let spend =
        "The server's operator: gotchu-server devices add NAME --user USER --may-spend"
    static let withdraw = "Withdraw with the payee's own login, or on the server's pages."
}
