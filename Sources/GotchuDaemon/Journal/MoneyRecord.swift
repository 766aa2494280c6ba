import GotchuAPI
import GotchuCore
import PaymentClient

/// A payment or a refund in the journal.
protocol MoneyRecord: JournalledRecord {
    associatedtype Flow: MoneyFlow

    var sid: SessionID { get }
    var amount: TippedAmount { get }
    var updatedAt: Timestamp { get set }
    /// The journal's word on it.
    var stage: MoneyStage<Flow.Progress> { get set }

    /// A Boolean that is true once a send may have left: only the server can say how it ends.
    var mayBeSent: Bool { get }

    /// The flow that continues it.
    ///
    /// - Parameter isResumed: True after a restart.
    func flow(from progress: Flow.Progress, isResumed: Bool) -> Flow

    /// Asks the payment server a question of the flow.
    ///
    /// - Parameter client: One that carries no other user's token.
    func ask(_ question: Flow.Question, _ client: PaymentClient) async -> PaymentAnswer

    /// The record as the local API has it.
    ///
    /// - Parameter reason: The reason why its end is not known, if the server was asked.
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
