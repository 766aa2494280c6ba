/// The payee's side of one refund: ask, journal. It needs no lock: the session was paid to nobody
/// else.
///
/// The key follows from the wish and the attempt, and an earlier refund that nobody here remembers
/// may have used it. A key that the server has declined stays declined for ever, and the last word
/// is that of the first key after those: another device that does the same comes to the same key,
/// and nothing is refunded twice.
package struct RefundFlow: MoneyFlow {
    /// The number of keys that are passed at most, each of which the server has declined for good.
    static let attemptLimit = 100

    package struct Progress: Codable, Equatable, Sendable {
        /// The number of attempts at the same wish before this one, each with a key of its own.
        package var attempt: Int

        package init(attempt: Int) {
            self.attempt = attempt
        }
    }

    package enum Question: Equatable, Sendable {
        /// The same question again is a resend under the same key.
        case refund
    }

    private enum State: Equatable {
        /// `isUncertain`: this key was asked with before, and that answer is not known.
        case asking(isUncertain: Bool)
        /// The key was an earlier refund's, declined for good; nothing is sent under the next one
        /// before the journal knows of it.
        case recordingAttempt
        case recordingEnd(PaymentEnd)
        case ended
    }

    private var state: State
    private var progress: Progress
    private var passed = 0
    private var schedule = RetrySchedule()

    /// - Parameter isResumed: True after a restart: the question may have been asked before.
    package init(from progress: Progress, isResumed: Bool) {
        self.progress = progress
        state = .asking(isUncertain: isResumed)
    }

    package mutating func handle(
        _ event: MoneyFlowEvent,
        jitter: Double
    ) -> MoneyFlowAction<Question, Progress> {
        switch (state, event) {
        case (.asking, .started), (.asking, .waited): return .ask(.refund)
        case (.asking(let isUncertain), .answered(let answer)):
            return asked(answer, isUncertain: isUncertain, jitter)
        case (.recordingAttempt, .journalled):
            state = .asking(isUncertain: false)
            return .ask(.refund)
        case (.recordingAttempt, .waited): return .journal(.open(progress))
        case (.recordingEnd(let end), .journalFailed) where end.needsNoJournal,
            (.recordingEnd(let end), .journalled):
            state = .ended
            return .finish(end)
        case (.recordingAttempt, .journalFailed), (.recordingEnd, .journalFailed):
            return wait(because: .journal, nil, jitter)
        case (.recordingEnd(let end), .waited): return .journal(.ended(end))
        case (.asking, .journalled), (.asking, .journalFailed),
            (.recordingAttempt, .started), (.recordingAttempt, .answered),
            (.recordingEnd, .started), (.recordingEnd, .answered),
            (.ended, _), (_, .cancelled):
            preconditionFailure("no such event in this state: \(state)")
        }
    }

    private mutating func asked(
        _ answer: PaymentAnswer,
        isUncertain: Bool,
        _ jitter: Double
    ) -> MoneyFlowAction<Question, Progress> {
        switch answer {
        case .done(var receipt):
            // The answer that a resend repeats is this refund's own.
            if isUncertain { receipt.wasMadeBefore = nil }
            return end(.paid(receipt))
        case .refused(_, isReplay: true) where passed < Self.attemptLimit:
            passed += 1
            progress.attempt += 1
            state = .recordingAttempt
            return .journal(.open(progress))
        case .refused(let refusal, let isReplay):
            guard isUncertain else { return end(.declined(refusal)) }
            // As with a payment: only what was decided about this very key counts. The resend is
            // the only way to ask about it.
            if isReplay || refusal.isDecidedByKey {
                return end(.declined(refusal.afterLostAnswer))
            }
            return wait(because: .refused(refusal), nil, jitter)
        case .unauthorized(let refusal):
            guard isUncertain else { return end(.declined(refusal)) }
            return wait(because: .unauthorized(refusal), nil, jitter)
        case .unknown(let retryAfter):
            state = .asking(isUncertain: true)
            return wait(because: .noAnswer, retryAfter, jitter)
        case .notAsked(let reason): return wait(because: reason, nil, jitter)
        }
    }

    private mutating func wait(
        because reason: UnresolvedReason,
        _ retryAfter: Duration?,
        _ jitter: Double
    ) -> MoneyFlowAction<Question, Progress> {
        .wait(schedule.next(retryAfter: retryAfter, jitter: jitter), because: reason)
    }

    private mutating func end(_ end: PaymentEnd) -> MoneyFlowAction<Question, Progress> {
        state = .recordingEnd(end)
        return .journal(.ended(end))
    }
}
