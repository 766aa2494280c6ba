import GotchuAPI
import GotchuCore
import PaymentClient

/// A payment or a refund in the journal.
protocol MoneyRecord: JournalledRecord {
    associatedtype Flow: MoneyFlow

    var sid: SessionID { get }
    var amount: TippedAmount { get }
    var updatedAt: Timestamp { get set }
    /// The stage that the journal has.
    var stage: MoneyStage<Flow.Progress> { get set }

    /// A Boolean that is true once it may have been sent: only the server knows its outcome.
    var mayBeSent: Bool { get }

    /// Creates the flow that continues it.
    ///
    /// - Parameter isResumed: True after a restart.
    func flow(from progress: Flow.Progress, isResumed: Bool) -> Flow

    /// Asks the payment server a question of the flow.
    ///
    /// - Parameter client: A client that carries no other user's token.
    func ask(_ question: Flow.Call, _ client: PaymentClient) async -> PaymentAnswer

    /// The record as the local API shows it.
    ///
    /// - Parameter reason: The reason why its outcome is not known, if the server was asked.
    func view(_ reason: UnresolvedReason?) -> PaymentView
}

extension MoneyRecord {
    var isOpen: Bool { stage.end == nil }

    var receipt: Receipt? {
        if case .paid(let receipt) = stage.end { receipt } else { nil }
    }

    var refusal: Decline? {
        if case .declined(let refusal) = stage.end { refusal } else { nil }
    }
}
