import Foundation
import ServiceProcess
import TestSupport
import Testing

@testable import GotchuAPI
@testable import GotchuCommands

@Suite("The page of errors")
struct ErrorPageTests {
    private static let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("docs/errors.md")

    /// Compares the page with the code. With `GOTCHU_TEST_WRITE=1`, as in `make docs`, the test
    /// writes the page first.
    @Test("The page docs/errors.md lists every current code and exit status")
    func upToDate() throws {
        let text = ErrorPage.text
        if isWritingPages { try Data(text.utf8).write(to: Self.page) }
        let stored = try String(contentsOf: Self.page, encoding: .utf8)
        #expect(stored == text, "docs/errors.md is out of date: make docs writes it")
    }
}

/// The text of docs/errors.md.
private enum ErrorPage {
    static var text: String {
        """
        # Errors

        Written by `make docs` from the list of codes; a test fails when it is out of date.

        Both APIs, the payment server's and the daemon's socket, answer errors as
        `application/problem+json` (RFC 9457). `code` is stable, and each code has one HTTP status.
        `detail` is one sentence for a person and may change; `fix`, where it is present, is what
        the person can do. Programs compare `code`, never the text. A client that meets a code it
        does not know goes by the status.

        "Same key" means the same `Idempotency-Key` and the same body: a repeat is never charged
        twice. A program waits as long as `Retry-After` says, where it is sent. The exit status is
        that of `gotchu-ctl`, and the command is what it suggests when the problem has no `fix`.

        | code | HTTP status | what happened | retry | exit status | command |
        |---|---|---|---|---|---|
        \(codes)

        ## Exit statuses

        The numbers are those of sysexits(3). `gotchu-ctl help exit-codes` prints the same list.

        | status | meaning |
        |---|---|
        \(statuses)

        """
    }

    private static var codes: String {
        ErrorCode.allCases.map { code in
            let cells = [
                "`\(code.rawValue)`", "\(code.httpStatus)", code.meaning, code.retry,
                "\(code.exitStatus.rawValue)", "`\(code.defaultFix)`",
            ]
            return "| " + cells.joined(separator: " | ") + " |"
        }.joined(separator: "\n")
    }

    private static var statuses: String {
        ExitStatus.allCases.map { "| \($0.rawValue) | \($0.meaning) |" }.joined(separator: "\n")
    }
}

extension ErrorCode {
    /// The text in the column `what happened`.
    fileprivate var meaning: String {
        switch self {
        case .validationError:
            "A header, a parameter or the body is not as described; `detail` names it."
        case .notFound: "There is no such address, EID, session, request or payment."
        case .methodNotAllowed: "The address has other methods; `Allow` names them."
        case .contentTooLarge: "The body has more than 64 KiB."
        case .unsupportedMediaType: "The body is not plain `application/json`."
        case .rateLimited: "A limit on calls, open requests or streams has been reached."
        case .internalError: "A bug in gotchu. The outcome of a payment is unknown."
        case .tryAgain:
            "The program is busy, stopping or without its database. The outcome may be "
                + "unknown."
        case .idempotencyKeyRequired:
            "The call needs an `Idempotency-Key` of 16 to 255 visible ASCII characters."
        case .idempotencyKeyReused: "The key belongs to a call with another body."
        case .unauthorized: "The token is missing, expired, revoked or of an unknown user."
        case .deviceCodeUsed: "The code of a device was used before: it is good once."
        case .deviceRevoked: "The device's login was revoked, or a copy of it was used."
        case .insufficientWalletBalance:
            "The wallet holds too little; `required_cents` and `available_cents` say how "
                + "much."
        case .forbidden:
            "The token lacks the scope, or the session is another user's; on the socket also: "
                + "the login is in a file of the operator's."
        case .ownSession: "Nobody can pay a session of their own."
        case .sessionBusy: "Another payer holds the session."
        case .sessionNotLocked: "The caller does not hold the session."
        case .sessionPaid: "This has been paid already."
        case .sessionCancelled: "The payee has cancelled the session."
        case .sessionExpired: "The session has expired."
        case .amountChanged:
            "The payee requests another amount or currency than the payer confirmed. Nothing "
                + "was paid."
        case .tipNotAllowed: "The session allows no tip, or none that large. Nothing was paid."
        case .tooManyRotations:
            "The session has changed its EID too often, and keeps the one it has."
        case .sessionNotPaid: "Nothing was paid that could be refunded."
        case .sessionRefunded: "Everything has been refunded."
        case .refundTooLarge: "The refund is larger than what is left of the payment."
        case .shareTaken:
            "The share of the bill is held or paid, or there is none of that number. Nothing was "
                + "paid."
        case .notRefundable:
            "A shared bill is not refunded as a whole, and a share of all or nothing not before "
                + "the payee has it."
        case .signatureInvalid: "The webhook's signature is wrong, or older than 300 seconds."
        case .fundingNotConfigured: "This server cannot fill or empty wallets, or not this user's."
        case .depositLimit:
            "The deposit is larger than may be, the wallet would hold too much, or there are too "
                + "many deposits. Nothing was charged."
        case .intentSettled: "The deposit has come to another end. Its status says which."
        case .payeeNotOnboarded: "The payee's account at the provider cannot receive money yet."
        case .walletOwes: "A card payment was taken back after its money was spent."
        case .withdrawalTooLate: "The provider may be paying the withdrawal already."
        case .providerRefused: "The payment provider refused. No money moved."
        case .providerUnavailable: "The payment provider did not answer. Nothing is lost."
        case .contestFull: "All places of the contest are taken. Nothing was charged."
        case .contestLocked: "The contest is locked: nobody can enter, leave or change a roster."
        case .alreadyJoined: "The user has entered the contest already: nothing more was charged."
        case .ownContest: "The organiser of a contest cannot enter it."
        case .joinTokenRequired: "The contest is private: entering it needs its invitation."
        case .contestNotFound: "There is no such contest, or it is not shown to the caller."
        case .contestState: "The contest's state does not allow the call."
        case .contestCancelled: "The contest was cancelled; all stakes have gone back."
        case .contestDisputed: "The organiser disputes the scores, so nothing is paid."
        case .scoresChanged: "There are other scores than the caller knew."
        case .noScores: "No entry has a score, so nobody could be paid."
        case .notJoined: "The user has not entered the contest."
        case .rosterInvalid: "The roster breaks the contest's rule; `detail` says which."
        case .notPermitted: "The caller's level on the socket is too low; `fix` says what gives it."
        case .browserRefused:
            "The request looks like a web page's: `Origin`, `Referer`, `Sec-Fetch-Site` or a "
                + "`Host` with a domain."
        case .notLoggedIn: "gotchud is not logged in, or the payment server refuses its login."
        case .payeeChanged: "The payee is not the one that was confirmed. Nothing was paid."
        case .notNear: "The EID is not as near as the call demands. Nothing was paid."
        case .ambiguous:
            "Another till is as near, or an EID about which the payment server has not answered. "
                + "Nothing was paid."
        case .paymentInProgress:
            "A payment of this session is open, too many payments are, or it may have been "
                + "sent and cannot be cancelled."
        case .paymentCancelled:
            "The payment or refund was cancelled, or not started: nothing was sent. Only ever the "
                + "`code` of a payment or refund."
        case .radioUnavailable: "The request cannot be advertised; it was cancelled."
        case .serverUnreachable: "The payment server did not answer. Nothing is known."
        case .badServerAnswer:
            "The payment server's answer is not as its contract says. The call may have been "
                + "carried out."
        case .journalUnwritable:
            "The disk is full or broken, or the journal was removed. Nothing was started."
        case .outcomeUnknown:
            "The disk broke during the call: gotchud cannot tell yet whether it was recorded. The "
                + "lists say how it ends."
        }
    }

    /// The text in the column `retry`: the conditions for repeating the call.
    fileprivate var retry: String {
        switch self {
        case .outcomeUnknown: "once its end is known, same key"
        case .tryAgain, .serverUnreachable, .providerUnavailable:
            "yes: in a second or more, same key"
        case .internalError, .badServerAnswer: "yes, a few times: same key"
        case .rateLimited: "yes: after `Retry-After`, same key"
        case .radioUnavailable, .journalUnwritable: "once the cause is removed"
        case .paymentInProgress: "follow the open payment"
        case .sessionBusy: "while the session lasts, new key: the lock may be released"
        case .notNear, .ambiguous: "after moving the device"
        case .unauthorized, .notLoggedIn: "after a login, same key"
        case .deviceCodeUsed, .deviceRevoked: "with a new code of the operator's"
        case .amountChanged, .payeeChanged, .tipNotAllowed:
            "with what the person confirms now, new key"
        case .insufficientWalletBalance: "with more in the wallet, new key"
        case .depositLimit: "later or with a smaller amount, new key"
        case .payeeNotOnboarded: "after payouts are set up, new key"
        case .walletOwes: "after what is owed is paid in, new key"
        case .fundingNotConfigured: "once the operator has configured it"
        case .contestFull: "if somebody leaves, new key"
        case .joinTokenRequired: "with the invitation, same key"
        case .scoresChanged: "after looking at the scores"
        case .noScores, .contestDisputed: "after scoring and completing it"
        case .rosterInvalid: "with another roster"
        case .contestLocked, .alreadyJoined, .ownContest, .contestNotFound, .contestState,
            .contestCancelled, .notJoined:
            "no"
        case .sessionNotLocked: "after locking, new key"
        case .idempotencyKeyReused: "with a new key, if it is another payment"
        case .refundTooLarge: "with a smaller amount, new key"
        case .shareTaken: "with another place, new key"
        case .notRefundable: "once the payee has it: the share, new key"
        case .validationError, .contentTooLarge, .unsupportedMediaType, .methodNotAllowed,
            .idempotencyKeyRequired, .signatureInvalid:
            "no: correct the call"
        case .notFound: "no; the outcome of a key was asked for: send the payment, same key"
        case .forbidden, .ownSession, .sessionPaid, .sessionCancelled, .sessionExpired,
            .tooManyRotations, .sessionNotPaid, .sessionRefunded, .notPermitted, .browserRefused,
            .paymentCancelled, .intentSettled, .withdrawalTooLate, .providerRefused:
            "no"
        }
    }
}
