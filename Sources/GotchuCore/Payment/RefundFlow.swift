/// The payee's side of one refund: request, journal. Needs no lock: only this payee can refund.
///
/// The key is derived from the parameters and the attempt number. Another device derives the same
/// keys, so nothing is refunded twice. An earlier refund that this device does not know may have
/// used the key. If the server has declined a key, it never succeeds: the next attempt number gives
/// the next key.
package struct RefundFlow: MoneyFlow {
    /// The maximum number of keys that are skipped after a permanent refusal by the server.
    static let attemptLimit = 100

    package struct Progress: Codable, Equatable, Sendable {
        /// The number of earlier attempts at the same refund, each with its own key.
        package var attempt: Int

        package init(attempt: Int) {
            self.attempt = attempt
        }
    }

    package enum Call: Equatable, Sendable {
        /// Requests the refund; repeated, it is a resend under the same key.
        case refund
    }

    private enum State: Equatable {
        /// `isUncertain`: a request with this key may have been sent, and its answer is unknown.
        case requesting(isUncertain: Bool)
        /// The key was permanently declined for an earlier refund. The next key is used only after
        /// the journal has recorded it.
        case recordingAttempt
        case recordingEnd(MoneyOutcome)
        case ended
    }

    private var state: State
    private var progress: Progress
    private var skippedKeys = 0
    private var schedule = RetrySchedule()

    /// - Parameter isResumed: True after a restart: the request may have been sent before.
    package init(from progress: Progress, isResumed: Bool) {
        self.progress = progress
        state = .requesting(isUncertain: isResumed)
    }

    package mutating func handle(
        _ event: MoneyFlowEvent,
        jitter: Double
    ) -> MoneyFlowAction<Call, Progress> {
        switch (state, event) {
        case (.requesting, .started), (.requesting, .waited): return .call(.refund)
        case (.requesting(let isUncertain), .answered(let answer)):
            return requested(answer, isUncertain: isUncertain, jitter)
        case (.recordingAttempt, .journalled):
            state = .requesting(isUncertain: false)
            return .call(.refund)
        case (.recordingAttempt, .waited): return .journal(.open(progress))
        case (.recordingEnd(let end), .journalFailed) where end.isSafeWithoutJournal,
            (.recordingEnd(let end), .journalled):
            state = .ended
            return .finish(end)
        case (.recordingAttempt, .journalFailed), (.recordingEnd, .journalFailed):
            return wait(because: .journal, nil, jitter)
        case (.recordingEnd(let end), .waited): return .journal(.ended(end))
        case (.requesting, .journalled), (.requesting, .journalFailed),
            (.recordingAttempt, .started), (.recordingAttempt, .answered),
            (.recordingEnd, .started), (.recordingEnd, .answered),
            (.ended, _), (_, .cancelled):
            preconditionFailure("no such event in this state: \(state)")
        }
    }

    private mutating func requested(
        _ answer: PaymentAnswer,
        isUncertain: Bool,
        _ jitter: Double
    ) -> MoneyFlowAction<Call, Progress> {
        switch answer {
        case .done(var receipt):
            // The refund may have been made by an earlier request of this flow. So it does not
            // count as made before this refund.
            if isUncertain { receipt.wasMadeBefore = nil }
            return end(.paid(receipt))
        case .refused(_, isReplay: true) where skippedKeys < Self.attemptLimit:
            skippedKeys += 1
            progress.attempt += 1
            state = .recordingAttempt
            return .journal(.open(progress))
        case .refused(let refusal, let isReplay):
            guard isUncertain else { return end(.declined(refusal)) }
            // As with a payment, only a decision about this key counts. Refunds have no look-up
            // call, so the request is sent again.
            if isReplay || refusal.isDecidedByKey {
                return end(.declined(refusal.afterLostAnswer))
            }
            return wait(because: .refused(refusal), nil, jitter)
        case .unauthorized(let refusal):
            guard isUncertain else { return end(.declined(refusal)) }
            return wait(because: .unauthorized(refusal), nil, jitter)
        case .unknown(let retryAfter):
            state = .requesting(isUncertain: true)
            return wait(because: .noAnswer, retryAfter, jitter)
        case .notSent(let reason): return wait(because: reason, nil, jitter)
        }
    }

    private mutating func wait(
        because reason: UnresolvedReason,
        _ retryAfter: Duration?,
        _ jitter: Double
    ) -> MoneyFlowAction<Call, Progress> {
        .wait(schedule.next(retryAfter: retryAfter, jitter: jitter), because: reason)
    }

    private mutating func end(_ end: MoneyOutcome) -> MoneyFlowAction<Call, Progress> {
        state = .recordingEnd(end)
        return .journal(.ended(end))
    }
}
