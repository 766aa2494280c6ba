/// The payer's side of one payment: lock, journal, send, journal. Uses one idempotency key
/// throughout.
package struct PaymentFlow: MoneyFlow {
    /// The longest lifetime of a session. If a payment is still in `locking` after that time, the
    /// session can no longer be paid. Not measured by the wall clock, which may differ from the
    /// server's.
    static let maximumSessionLifetime: Duration = .seconds(300)

    package enum Progress: String, Codable, Sendable {
        /// Nothing was sent: the payment can be given up safely.
        case locking
        /// A send may have reached the server.
        case sending
    }

    package enum Call: Equatable, Sendable {
        case lock
        case send
        /// Gets the outcome stored for the key, without sending again.
        case lookUp
        /// Releases the lock, so that another payer need not wait until it expires.
        case unlock
    }

    private enum State: Equatable {
        case locking
        /// The lock is ours; nothing may be sent before the journal has recorded it.
        case recordingLock
        /// `isUncertain`: the answer to an earlier send is unknown.
        case sending(isUncertain: Bool)
        /// The answer to an earlier send is unknown, and the server now refuses for a reason that
        /// says nothing about the key.
        case lookingUp(Decline)
        /// The lock is released before the end is published, so that another attempt finds it free.
        case unlocking(MoneyOutcome)
        case recordingEnd(MoneyOutcome)
        case ended
    }

    private var state: State
    private var mayHoldLock: Bool
    private var schedule = RetrySchedule()

    /// Continues from the state recorded in the journal.
    ///
    /// - Parameter progress: `.locking` for a new payment.
    package init(from progress: Progress) {
        switch progress {
        case .locking: (state, mayHoldLock) = (.locking, false)
        case .sending: (state, mayHoldLock) = (.sending(isUncertain: true), true)
        }
    }

    package mutating func handle(
        _ event: MoneyFlowEvent,
        jitter: Double
    ) -> MoneyFlowAction<Call, Progress> {
        switch (state, event) {
        case (.locking, .started): return .call(.lock)
        case (.locking, .answered(let answer)): return locked(answer, jitter)
        case (.locking, .waited(let elapsed)):
            return elapsed < Self.maximumSessionLifetime
                ? .call(.lock) : end(.declined(.sessionExpired))
        case (.recordingLock, .journalled):
            state = .sending(isUncertain: false)
            return .call(.send)
        case (.recordingLock, .journalFailed):
            // The journal still says "locking", and a restart would continue from there. So this
            // run does not decline the payment: it goes back to locking.
            state = .locking
            return wait(because: .journal, jitter: jitter)
        case (.locking, .cancelled), (.recordingLock, .cancelled):
            return end(.declined(.cancelled))
        case (.sending, .started), (.sending, .waited): return .call(.send)
        case (.sending(let isUncertain), .answered(let answer)):
            return sent(answer, isUncertain: isUncertain, jitter)
        case (.lookingUp(let refusal), .answered(let answer)):
            return lookedUp(answer, after: refusal, jitter)
        case (.unlocking(let end), .answered):
            mayHoldLock = false
            return self.end(end)
        case (.recordingEnd(let end), .journalFailed) where !end.isSafeWithoutJournal:
            return wait(because: .journal, jitter: jitter)
        case (.recordingEnd(let end), .waited): return .journal(.ended(end))
        case (.recordingEnd(let end), .journalled), (.recordingEnd(let end), .journalFailed):
            state = .ended
            return .finish(end)
        case (.recordingEnd, .cancelled):
            state = .ended
            return .finish(.declined(.cancelled))
        case (.locking, .journalled), (.locking, .journalFailed),
            (.recordingLock, .started), (.recordingLock, .answered), (.recordingLock, .waited),
            (.sending, .journalled), (.sending, .journalFailed), (.sending, .cancelled),
            (.lookingUp, _), (.unlocking, _),
            (.recordingEnd, .started), (.recordingEnd, .answered), (.ended, _):
            preconditionFailure("no such event in this state: \(state)")
        }
    }

    private mutating func locked(
        _ answer: PaymentAnswer,
        _ jitter: Double
    ) -> MoneyFlowAction<Call, Progress> {
        switch answer {
        case .done:
            mayHoldLock = true
            state = .recordingLock
            return .journal(.open(.sending))
        case .refused(let refusal, _), .unauthorized(let refusal):
            return end(.declined(refusal))
        case .unknown(let retryAfter):
            mayHoldLock = true
            return wait(because: .noAnswer, retryAfter, jitter: jitter)
        case .notSent(let reason): return wait(because: reason, jitter: jitter)
        }
    }

    private mutating func sent(
        _ answer: PaymentAnswer,
        isUncertain: Bool,
        _ jitter: Double
    ) -> MoneyFlowAction<Call, Progress> {
        switch answer {
        case .done(let receipt): return end(.paid(receipt))
        case .refused(let refusal, let isReplay):
            guard isUncertain else { return end(.declined(refusal)) }
            // Only a decision about this key proves that no earlier send succeeded and none will. A
            // refusal before the key is looked up proves nothing, such as that of a gateway or for
            // a missing scope.
            if isReplay || refusal.isDecidedByKey {
                return end(.declined(refusal.afterLostAnswer))
            }
            state = .lookingUp(refusal)
            return .call(.lookUp)
        case .unauthorized(let refusal):
            // The key was not looked up, so the refusal says nothing about an earlier send.
            guard isUncertain else { return end(.declined(refusal)) }
            return wait(because: .unauthorized(refusal), jitter: jitter)
        case .unknown(let retryAfter):
            state = .sending(isUncertain: true)
            return wait(because: .noAnswer, retryAfter, jitter: jitter)
        case .notSent(let reason): return wait(because: reason, jitter: jitter)
        }
    }

    /// - Parameter refusal: The answer to the last send, which says nothing about the key.
    private mutating func lookedUp(
        _ answer: PaymentAnswer,
        after refusal: Decline,
        _ jitter: Double
    ) -> MoneyFlowAction<Call, Progress> {
        // If this answer decides nothing, the payment is sent again after a wait.
        state = .sending(isUncertain: true)
        switch answer {
        case .done(let receipt): return end(.paid(receipt))
        case .refused(let refusal, _): return end(.declined(refusal.afterLostAnswer))
        case .unauthorized(let refusal):
            return wait(because: .unauthorized(refusal), jitter: jitter)
        case .unknown(let retryAfter):
            return wait(because: .refused(refusal), retryAfter, jitter: jitter)
        case .notSent(let reason): return wait(because: reason, jitter: jitter)
        }
    }

    private mutating func wait(
        because reason: UnresolvedReason,
        _ retryAfter: Duration? = nil,
        jitter: Double
    ) -> MoneyFlowAction<Call, Progress> {
        .wait(schedule.next(retryAfter: retryAfter, jitter: jitter), because: reason)
    }

    private mutating func end(_ end: MoneyOutcome) -> MoneyFlowAction<Call, Progress> {
        if case .declined = end, mayHoldLock {
            state = .unlocking(end)
            return .call(.unlock)
        }
        state = .recordingEnd(end)
        return .journal(.ended(end))
    }
}
