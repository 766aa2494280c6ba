import GotchuAPI
import GotchuCore
import LocalAPI

extension LocalClient {
    /// The time for which a call without an answer is repeated.
    static let repeatLimit: Duration = .seconds(15)
    private static let repeatPause: Duration = .milliseconds(250)

    /// Makes a call with a key, and repeats it if the daemon went away before it had answered.
    ///
    /// If the first attempt finds no daemon its failure is thrown at once: nothing was sent. Once
    /// an answer was lost, only an answer that knows the key tells the outcome; without one it
    /// stays unknown.
    func repeating<Reply: Sendable>(
        _ call: (IdempotencyKey) async throws -> Reply
    ) async throws -> Reply {
        let key = IdempotencyKey.random()
        do {
            return try await call(key)
        } catch LocalClientFailure.connectionLost {
            let end = ContinuousClock.now + Self.repeatLimit
            while true {
                do {
                    return try await call(key)
                } catch let failure as LocalClientFailure where !failure.isDefinite {
                    // Whatever the reason is now, the first call may have been carried out.
                    guard failure.isRestart, ContinuousClock.now < end else {
                        throw LocalClientFailure.connectionLost
                    }
                    // gotchud restarts and nothing announces its socket; `repeatLimit` ends this.
                    try await Task.sleep(for: Self.repeatPause)
                }
            }
        }
    }

    /// Makes a call with a key as `repeating` does, and asks again, with the same key, while the
    /// payment server does not answer.
    ///
    /// - Parameter patience: The time after which the last problem is thrown.
    func persisting<Reply: Sendable>(
        for patience: Duration,
        _ call: (IdempotencyKey) async throws -> Reply
    ) async throws -> Reply {
        let end = ContinuousClock.now + patience
        var schedule = RetrySchedule()
        return try await repeating { key in
            while true {
                do {
                    return try await call(key)
                } catch LocalClientFailure.problem(let problem)
                    where problem.retryable == true && ContinuousClock.now < end
                {
                    let jitter = Double.random(in: 0..<1)
                    // Backoff with jitter; the person's patience ends it.
                    try await Task.sleep(for: schedule.next(retryAfter: nil, jitter: jitter))
                }
            }
        }
    }
}

extension LocalClientFailure {
    /// A Boolean that is true if a daemon that is restarting fails like this.
    ///
    /// It makes its socket accessible to itself alone and opens it to others a moment later.
    fileprivate var isRestart: Bool {
        if case .timedOut = self { false } else { isAbsence || isClosed }
    }

    /// A Boolean that is true if it proves that no call with this key has created anything.
    fileprivate var isDefinite: Bool {
        guard case .problem(let problem) = self else { return false }
        return problem.errorCode?.isOfAnUnknownKey ?? false
    }
}

extension ErrorCode {
    /// A Boolean that is true if gotchud gives this answer only after it has looked the key up and
    /// found nothing.
    fileprivate var isOfAnUnknownKey: Bool {
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
        // Permissions, the login and the form of the call are checked before the key is looked up;
        // a reused key has created something.
        case .validationError, .methodNotAllowed, .contentTooLarge, .unsupportedMediaType,
            .rateLimited, .internalError, .tryAgain, .idempotencyKeyRequired,
            .idempotencyKeyReused, .unauthorized, .notPermitted, .browserRefused, .notLoggedIn,
            .radioUnavailable, .serverUnreachable, .journalUnwritable, .signatureInvalid,
            .providerUnavailable, .badServerAnswer:
            false
        }
    }
}
