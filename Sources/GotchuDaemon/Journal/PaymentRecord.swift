import GotchuAPI
import GotchuCore

/// What the journal keeps of one payment, before its first byte is sent and until its end is known.
struct PaymentRecord: Codable, Equatable, Sendable {
    let id: String
    /// The one key of this payment, for its whole life. A refund takes the next one if the server
    /// says that it had declined this one for good before.
    var key: IdempotencyKey
    let sid: SessionID
    let eid: EID?
    /// The payment server it was agreed with; a payment is never taken to another one.
    let server: String
    /// Whose wallet pays: the subject of the token at the time. It is never sent as somebody else.
    let payer: String
    /// The exact bytes of the send.
    let body: String
    /// As the person saw them.
    let amountCents: Int64
    /// As in `PaymentView`.
    var tipCents: Int64?
    let currency: Currency
    let payee: String
    /// The id that tells that payee from others of the same name, if the server gave one.
    var payeeID: String?
    let createdAt: Timestamp
    /// When the session ends, if the server said so.
    let expiresAt: Timestamp?
    var updatedAt: Timestamp
    var stage: Stage
    var receipt: Receipt?
    var refusal: Decline?
    /// The call that asked for it, if it may be repeated.
    var call: IdempotentCall?
    /// Further calls that asked for it while it was open, and may be repeated too.
    var joined: [IdempotentCall]?
    /// What was asked for, if money goes back: it is driven like a payment that needs no lock.
    var refund: NewRefund?
    /// With a refund whose key follows from the wish: which try of that wish it is, from 0.
    var attempt: Int?

    /// How far the payment is known to have come.
    enum Stage: String, Codable, Sendable {
        /// No send has left.
        case locking
        /// A send may have left.
        case sending
        case paid
        case declined
    }

    var amount: TippedAmount {
        let money = Money(minorUnits: amountCents, currency: currency)
        return TippedAmount(money, tip: tipCents, isIncluded: refund != nil)
    }

    /// All calls that asked for it and may be repeated.
    var calls: [IdempotentCall] { (call.map { [$0] } ?? []) + (joined ?? []) }

    /// Whether it still has to be driven to its end.
    var isOpen: Bool {
        switch stage {
        case .locking, .sending: true
        case .paid, .declined: false
        }
    }
}
