import GotchuAPI
import GotchuCore
import PaymentClient

/// A payment or a refund in the journal.
protocol MoneyRecord: JournalledRecord {
    associatedtype Flow: MoneyFlow

    var sid: SessionID { get }
    var amount: TippedAmount { get }
    var updatedAt: Timestamp { get set }
    /// The stage that is stored in the journal.
    var stage: MoneyStage<Flow.Progress> { get set }

    /// A Boolean that is true once the record may have been sent. Then only the server knows the
    /// outcome.
    var mayBeSent: Bool { get }

    /// Creates the flow that continues the record.
    ///
    /// - Parameter isResumed: True after a restart.
    func flow(from progress: Flow.Progress, isResumed: Bool) -> Flow

    /// Makes a call of the flow to the payment server.
    ///
    /// - Parameter client: A client that carries no other user's token.
    func send(_ call: Flow.Call, _ client: PaymentClient) async -> PaymentAnswer

    /// The record as the local API shows it.
    ///
    /// - Parameter reason: The reason why the outcome is not known; `nil` if there is none.
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
