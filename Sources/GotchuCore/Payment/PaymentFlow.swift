/// The payer's side of one payment: what to do next, given what has happened. Pure.
///
/// The rules it keeps: nothing is sent before the journal has it; one key for the whole life of the
/// payment; only a definite answer ends it; "declined" is said only when it is certain that this
/// payment has not moved money and will not.
package struct PaymentFlow: Sendable {
    /// How many keys are gone through at most, each of which the server has declined for good.
    static let attemptLimit = 100

    package private(set) var stage: Stage
    /// Whether the key follows from what is wished, so that an earlier try, which nobody here
    /// remembers, may have had it.
    private let isKeyDerived: Bool
    private var attempts = 0
    private var schedule = RetrySchedule()

    /// Starts where the journal says the payment was left.
    ///
    /// - Parameter stage: `.locking` for a new payment; `.sending(isUncertain: true)` for one that
    ///   was interrupted after a send may have left.
    /// - Parameter isKeyDerived: Whether the key follows from what is wished, as a refund's does,
    ///   and was not drawn for this payment alone.
    package init(stage: Stage, isKeyDerived: Bool = false) {
        self.stage = stage
        self.isKeyDerived = isKeyDerived
    }

    /// Where the payment stands.
    package enum Stage: Equatable, Sendable {
        /// No send has ever left: giving up is still certain.
        case locking
        /// The lock is ours and the journal is being told, before the send may leave.
        case recordingLock
        /// `isUncertain`: a send has left and its answer is not known.
        case sending(isUncertain: Bool)
        /// A send has left, its answer is not known, and what answers now says nothing about it:
        /// the server is asked what became of the key.
        case lookingUp
        /// The key was an earlier try's, declined for good, and the journal is being told the next.
        case recordingNextKey
        /// The end is known and the journal is being told.
        case recordingEnd(PaymentEnd)
        case ended(PaymentEnd)
    }

    /// What has happened.
    package enum Event: Sendable {
        case started
        case lockAnswered(PaymentAnswer)
        case sendAnswered(PaymentAnswer)
        /// What the server knows of the key; no answer unless it has decided about it.
        case lookedUp(PaymentAnswer)
        case journalled
        /// The journal could not be written.
        case journalFailed
        case waited
        /// No session lives as long as nothing could be sent.
        case expired
    }

    /// What to do now.
    package enum Action: Equatable, Sendable {
        case lock
        /// Write "sending" to the journal and sync it.
        case journalSending
        case send
        /// Ask the server what became of the key, without sending again.
        case lookUp
        /// Write the key of the next try to the journal and sync it.
        case journalNextKey
        case journalEnd(PaymentEnd)
        /// Wait, then report `.waited`.
        case wait(Duration)
        /// The end was reached; nothing more happens.
        case finish(PaymentEnd)
    }

    /// Takes an event and returns the next thing to do.
    ///
    /// - Parameter jitter: 0 …< 1, for the next wait should there be one.
    package mutating func handle(_ event: Event, jitter: Double) -> Action {
        switch (stage, event) {
        case (.locking, .started), (.locking, .waited):
            return .lock
        case (.locking, .lockAnswered(let answer)):
            return handleLock(answer, jitter: jitter)
        case (.locking, .expired):
            return end(.declined(.sessionExpired))
        case (.recordingLock, .journalled):
            stage = .sending(isUncertain: false)
            return .send
        case (.recordingLock, .journalFailed):
            // The journal still says "locking", and the next start would go on from there: so it is
            // not declined, and this run goes on from there too.
            stage = .locking
            return .wait(schedule.next(retryAfter: nil, jitter: jitter))
        case (.sending, .started), (.sending, .waited):
            return .send
        case (.sending(let isUncertain), .sendAnswered(let answer)):
            return handleSend(answer, isUncertain: isUncertain, jitter: jitter)
        case (.lookingUp, .lookedUp(let answer)):
            return handleLookUp(answer, jitter: jitter)
        case (.recordingNextKey, .journalled):
            stage = .sending(isUncertain: false)
            return .send
        case (.recordingNextKey, .journalFailed):
            return .wait(schedule.next(retryAfter: nil, jitter: jitter))
        case (.recordingNextKey, .waited), (.recordingNextKey, .expired):
            return .journalNextKey
        case (.recordingEnd(let end), .journalled):
            stage = .ended(end)
            return .finish(end)
        case (.recordingEnd(let end), .journalFailed):
            return handleUnrecordedEnd(end, jitter: jitter)
        case (.recordingEnd(let end), .waited):
            return .journalEnd(end)
        case (.sending, .expired):
            // Only the server can say whether the send was in time.
            return .send
        case (.locking, .journalled), (.locking, .journalFailed), (.locking, .sendAnswered),
            (.locking, .lookedUp),
            (.recordingLock, .started), (.recordingLock, .lockAnswered),
            (.recordingLock, .sendAnswered), (.recordingLock, .lookedUp),
            (.recordingLock, .waited), (.recordingLock, .expired),
            (.sending, .lockAnswered), (.sending, .lookedUp), (.sending, .journalled),
            (.sending, .journalFailed),
            (.lookingUp, _),
            (.recordingNextKey, .started), (.recordingNextKey, .lockAnswered),
            (.recordingNextKey, .sendAnswered), (.recordingNextKey, .lookedUp),
            (.recordingEnd, .started), (.recordingEnd, .lockAnswered),
            (.recordingEnd, .sendAnswered), (.recordingEnd, .lookedUp), (.recordingEnd, .expired),
            (.ended, _):
            preconditionFailure("no such event in this stage: \(stage)")
        }
    }

    private mutating func handleLock(_ answer: PaymentAnswer, jitter: Double) -> Action {
        switch answer {
        case .done:
            stage = .recordingLock
            return .journalSending
        case .refused(let refusal, _), .unauthorized(let refusal):
            return end(.declined(refusal))
        case .unknown(let retryAfter):
            return .wait(schedule.next(retryAfter: retryAfter, jitter: jitter))
        }
    }

    private mutating func handleSend(
        _ answer: PaymentAnswer,
        isUncertain: Bool,
        jitter: Double
    ) -> Action {
        switch answer {
        case .done(var receipt):
            // What is repeated to a resend is this payment's own.
            if isUncertain { receipt.wasMadeBefore = nil }
            return end(.paid(receipt))
        case .refused(let refusal, let isReplay):
            if isReplay, isKeyDerived, attempts < Self.attemptLimit { return takeNextKey() }
            guard isUncertain else { return end(.declined(refusal)) }
            // Only what the server decided about this very key says that no earlier send succeeded,
            // and none will; a refusal at the door (a gateway's, a missing scope's) says nothing.
            if isReplay || refusal.isDecidedByKey { return end(.declined(refusal.toldLate)) }
            stage = .lookingUp
            return .lookUp
        case .unauthorized(let refusal):
            // Refused at the door, before the key was looked up: says nothing about an earlier
            // send.
            guard isUncertain else { return end(.declined(refusal)) }
            return .wait(schedule.next(retryAfter: nil, jitter: jitter))
        case .unknown(let retryAfter):
            stage = .sending(isUncertain: true)
            return .wait(schedule.next(retryAfter: retryAfter, jitter: jitter))
        }
    }

    /// The server had declined this key before, perhaps in an earlier try that nobody here
    /// remembers, and a later try may have succeeded: the last word is that of the first key after
    /// those.
    ///
    /// A declined key stays so for ever, and the next one follows from the same wish, so that
    /// whoever else goes this way comes to the same key and nothing is done twice.
    private mutating func takeNextKey() -> Action {
        attempts += 1
        stage = .recordingNextKey
        return .journalNextKey
    }

    private mutating func handleLookUp(_ answer: PaymentAnswer, jitter: Double) -> Action {
        switch answer {
        case .done(let receipt): return end(.paid(receipt))
        case .refused(let refusal, _): return end(.declined(refusal.toldLate))
        case .unauthorized:
            stage = .sending(isUncertain: true)
            return .wait(schedule.next(retryAfter: nil, jitter: jitter))
        case .unknown(let retryAfter):
            // Undecided, or nobody knows. The resend may decide it.
            stage = .sending(isUncertain: true)
            return .wait(schedule.next(retryAfter: retryAfter, jitter: jitter))
        }
    }

    /// The journal cannot keep the end.
    ///
    /// "Paid" may be told all the same: the next start asks with the same key and is told it again.
    /// "Declined" may not: the journal's older record would be driven on at the next start, and
    /// charge somebody who was told that nothing was paid.
    private mutating func handleUnrecordedEnd(_ end: PaymentEnd, jitter: Double) -> Action {
        switch end {
        case .paid:
            stage = .ended(end)
            return .finish(end)
        case .declined:
            return .wait(schedule.next(retryAfter: nil, jitter: jitter))
        }
    }

    private mutating func end(_ end: PaymentEnd) -> Action {
        stage = .recordingEnd(end)
        return .journalEnd(end)
    }
}
