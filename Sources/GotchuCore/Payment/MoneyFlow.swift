/// A state machine that brings one payment or refund to its definite end. Pure: no clock, no
/// network, no journal.
///
/// Every flow keeps these rules: nothing is sent before the journal has it; only a definite answer
/// ends it; "declined" is said only when it is certain that no money has moved and none will.
package protocol MoneyFlow: Sendable {
    /// A call to the payment server.
    associatedtype Question: Sendable
    /// The part of an open flow's state that must survive a crash.
    associatedtype Progress: Codable, Equatable, Sendable

    /// Applies an event and returns the next action.
    ///
    /// - Parameter jitter: 0 …< 1, for the next wait should there be one.
    mutating func handle(
        _ event: MoneyFlowEvent,
        jitter: Double
    ) -> MoneyFlowAction<Question, Progress>
}

/// An outcome of the last action of a `MoneyFlow`.
package enum MoneyFlowEvent: Sendable {
    case started
    case answered(PaymentAnswer)
    case journalled
    case journalFailed
    /// - Parameter elapsed: The time since the flow was started, the machine being asleep or not.
    case waited(elapsed: Duration)
    /// A person has cancelled it before anything was sent, and the journal has that.
    case cancelled
}

/// The next step of a `MoneyFlow`.
package enum MoneyFlowAction<Question, Progress: Codable & Equatable & Sendable> {
    /// Ask the payment server, then report `.answered`.
    case ask(Question)
    /// Write the stage to the journal and sync it, then report `.journalled`, `.journalFailed` or
    /// `.cancelled`.
    case journal(MoneyStage<Progress>)
    /// Wait, then report `.waited` or `.cancelled`.
    case wait(Duration, because: UnresolvedReason)
    /// Nothing more happens.
    case finish(PaymentEnd)
}

extension MoneyFlowAction: Equatable where Question: Equatable {}
extension MoneyFlowAction: Sendable where Question: Sendable {}

/// The journal's word on a payment or refund.
package enum MoneyStage<Progress: Codable & Equatable & Sendable>: Codable, Equatable, Sendable {
    case open(Progress)
    case ended(PaymentEnd)

    /// The definite end; `nil` while it is open.
    package var end: PaymentEnd? {
        switch self {
        case .open: nil
        case .ended(let end): end
        }
    }
}

/// The definite end of a payment or refund.
package enum PaymentEnd: Codable, Equatable, Sendable {
    case paid(Receipt)
    case declined(Decline)

    /// A Boolean that is true if the end may be published although the journal does not have it.
    ///
    /// "Paid" may: the next start asks with the same key and gets the same answer. "Declined" may
    /// not: the next start would go on from the journal's older record, and charge somebody who was
    /// told that nothing was paid.
    var needsNoJournal: Bool {
        switch self {
        case .paid: true
        case .declined: false
        }
    }
}
