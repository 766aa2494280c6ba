internal import FoundationEssentials
internal import GotchuAPI
internal import GotchuCore
internal import Ledger

/// What a merchant's systems are told. The same event is the same bytes each time it is tried.
struct WebhookBody: Encodable, Sendable {
    let type: String
    let timestamp: Timestamp
    let data: Content

    struct Content: Encodable, Sendable {
        let sid: SessionID
        let payee_id: String
        let amount_cents: Int64
        let currency: Currency
        let memo: String?
        let payee_reference: String?
        let refund_cents: Int64?
        let refunded_cents: Int64
    }

    init(_ delivery: WebhookDelivery) {
        let session = delivery.session
        type = delivery.kind.rawValue
        timestamp = delivery.at
        data = Content(
            sid: session.id,
            payee_id: session.payee.rawValue,
            amount_cents: session.amount.minorUnits,
            currency: session.amount.currency,
            memo: session.memo,
            payee_reference: session.reference,
            refund_cents: delivery.refund,
            refunded_cents: delivery.refunded
        )
    }

    func bytes() throws -> [UInt8] {
        [UInt8](try JSONEncoder.canonical.encode(self))
    }
}
