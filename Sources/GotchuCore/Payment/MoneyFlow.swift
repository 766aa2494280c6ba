/// A state machine that drives one payment or refund to its final outcome. Pure: it uses no clock,
/// network or journal itself.
///
/// Every flow follows these rules. No payment or refund is requested before the journal has
/// recorded it. Once money may have moved, only a definite answer ends the flow. "Declined" is
/// reported only if it is certain that no money has moved and none will.
package protocol MoneyFlow: Sendable {
    /// A request to the payment server.
    associatedtype Call: Sendable
    /// The part of an open flow's state that must survive a crash.
    associatedtype Progress: Codable, Equatable, Sendable

    /// Applies an event and returns the next action.
    ///
    /// - Parameter jitter: 0 …< 1, used if the next action is a wait.
    mutating func handle(
        _ event: MoneyFlowEvent,
        jitter: Double
    ) -> MoneyFlowAction<Call, Progress>
}

/// The start of a `MoneyFlow`, or the outcome of its last action.
package enum MoneyFlowEvent: Sendable {
    case started
    case answered(PaymentAnswer)
    case journalled
    case journalFailed
    /// - Parameter elapsed: The time since the flow was started, including suspend.
    case waited(elapsed: Duration)
    /// A person cancelled it before the payment was sent, and the journal has recorded that.
    case cancelled
}

/// The next step of a `MoneyFlow`.
package enum MoneyFlowAction<Call, Progress: Codable & Equatable & Sendable> {
    /// Send the request to the payment server, then report `.answered`.
    case call(Call)
    /// Write the stage to the journal and sync it, then report `.journalled`, `.journalFailed` or
    /// `.cancelled`.
    case journal(MoneyStage<Progress>)
    /// Wait, then report `.waited` or `.cancelled`.
    case wait(Duration, because: UnresolvedReason)
    /// Nothing more happens.
    case finish(MoneyOutcome)
}

extension MoneyFlowAction: Equatable where Call: Equatable {}
extension MoneyFlowAction: Sendable where Call: Sendable {}

/// The state of a payment or refund as stored in the journal.
package enum MoneyStage<Progress: Codable & Equatable & Sendable>: Codable, Equatable, Sendable {
    /// The first record of it. Nothing is sent before a second one says `open`, which is written
    /// once the first is certain to be on disk.
    case begun(Progress)
    case open(Progress)
    case ended(MoneyOutcome)

    /// The final outcome; `nil` while it is open.
    package var end: MoneyOutcome? {
        switch self {
        case .begun, .open: nil
        case .ended(let end): end
        }
    }

    /// The progress while it is open.
    package var progress: Progress? {
        switch self {
        case .begun(let progress), .open(let progress): progress
        case .ended: nil
        }
    }
}

/// The final outcome of a payment or refund.
package enum MoneyOutcome: Codable, Equatable, Sendable {
    case paid(Receipt)
    case declined(Decline)

    /// A Boolean that is true if the outcome may be published even if it cannot be journalled.
    ///
    /// "Paid" may be: after a restart, a resend with the same key gets the same answer. "Declined"
    /// may not be: after a restart, the flow continues from the older journal record. It may then
    /// charge a payer who was told that nothing was paid.
    var isSafeWithoutJournal: Bool {
        switch self {
        case .paid: true
        case .declined: false
        }
    }
}
