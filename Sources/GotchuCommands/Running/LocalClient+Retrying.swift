import GotchuAPI
import GotchuCore
import LocalAPI

extension LocalClient {
    /// The time for which a call is retried after a lost connection.
    static let retryDuration: Duration = .seconds(15)
    private static let retryInterval: Duration = .milliseconds(250)
    /// The time for which a call is retried while the payment server does not answer.
    private static let outageDuration: Duration = .seconds(60)

    /// Makes a call with an idempotency key; retries if the connection is lost before the reply.
    ///
    /// If the first call finds no daemon, its failure is thrown at once: nothing was sent. After a
    /// lost connection, only a success or a failure that proves the key unused is definite. For any
    /// other failure, `connectionLost` is thrown: the outcome is unknown.
    func retryingAfterLostConnection<Reply: Sendable>(
        _ call: (IdempotencyKey) async throws -> Reply
    ) async throws -> Reply {
        let key = IdempotencyKey.random()
        do {
            return try await call(key)
        } catch LocalClientFailure.connectionLost {
            let end = ContinuousClock.now + Self.retryDuration
            while true {
                do {
                    return try await call(key)
                } catch let failure as LocalClientFailure where !failure.isDefinite {
                    // Whatever fails now, the first call may have been carried out.
                    guard failure.isRestart, ContinuousClock.now < end else {
                        throw LocalClientFailure.connectionLost
                    }
                    // No event reports gotchud's new socket: poll until `retryDuration` is over.
                    try await Task.sleep(for: Self.retryInterval)
                }
            }
        }
    }

    /// Makes a call like `retryingAfterLostConnection`. Retries with the same key while the reply
    /// is a retryable problem, such as an unreachable payment server. After `outageDuration` the
    /// last problem is thrown.
    func retryingWhileUnavailable<Reply: Sendable>(
        _ call: (IdempotencyKey) async throws -> Reply
    ) async throws -> Reply {
        let end = ContinuousClock.now + Self.outageDuration
        var schedule = RetrySchedule()
        return try await retryingAfterLostConnection { key in
            while true {
                do {
                    return try await call(key)
                } catch LocalClientFailure.problem(let problem)
                    where problem.retryable == true && ContinuousClock.now < end
                {
                    let jitter = Double.random(in: 0..<1)
                    // Backoff with jitter, until `outageDuration` has passed.
                    try await Task.sleep(for: schedule.next(retryAfter: nil, jitter: jitter))
                }
            }
        }
    }
}

extension LocalClientFailure {
    /// A Boolean that is true for failures that a restarting daemon causes.
    ///
    /// The daemon creates its new socket first, and opens it to other users a moment later.
    fileprivate var isRestart: Bool {
        if case .timedOut = self { false } else { isDaemonUnavailable || isPermissionDenied }
    }

    /// A Boolean that is true if the failure proves that no call with this key has created
    /// anything.
    fileprivate var isDefinite: Bool {
        guard case .problem(let problem) = self else { return false }
        return problem.errorCode?.provesKeyUnused ?? false
    }
}

extension ErrorCode {
    /// A Boolean that is true if gotchud returns this code only after it has looked the key up and
    /// found nothing.
    fileprivate var provesKeyUnused: Bool {
        switch self {
        case .notFound, .forbidden, .ownSession, .sessionBusy, .sessionNotLocked, .sessionPaid,
            .sessionCancelled, .sessionExpired, .amountChanged, .payeeChanged, .notNear,
            .ambiguous, .paymentInProgress, .paymentCancelled, .tooManyRotations, .sessionNotPaid,
            .sessionRefunded, .refundTooLarge, .tipNotAllowed, .shareTaken, .notRefundable,
            .insufficientWalletBalance,
            .depositLimit, .intentSettled, .payeeNotOnboarded, .walletOwes, .withdrawalTooLate,
            .providerRefused, .fundingNotConfigured:
            true
        case .contestFull, .contestLocked, .alreadyJoined, .ownContest, .joinTokenRequired,
            .contestNotFound, .contestState, .contestCancelled, .contestDisputed, .scoresChanged,
            .noScores, .notJoined, .rosterInvalid:
            true
        // Permissions, the login and the form of the call are checked before the key is looked up.
        // A reused key has already created something.
        case .validationError, .methodNotAllowed, .contentTooLarge, .unsupportedMediaType,
            .rateLimited, .internalError, .tryAgain, .idempotencyKeyRequired,
            .idempotencyKeyReused, .unauthorized, .deviceCodeUsed, .deviceRevoked, .notPermitted,
            .browserRefused, .notLoggedIn, .radioUnavailable, .serverUnreachable,
            .journalUnwritable, .outcomeUnknown, .signatureInvalid, .providerUnavailable,
            .badServerAnswer:
            false
        }
    }
}
