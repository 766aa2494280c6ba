internal import Contests
internal import FoundationEssentials
internal import GotchuAPI
internal import GotchuCore
internal import Ledger
internal import Outbox
internal import Payments

/// The body of a webhook. The same event has the same bytes in each attempt.
struct WebhookBody: Encodable, Sendable {
    let type: String
    let timestamp: Timestamp
    let data: Content

    enum Content: Encodable, Sendable {
        case session(SessionContent)
        case contest(ContestContent)

        func encode(to encoder: any Encoder) throws {
            switch self {
            case .session(let session): try session.encode(to: encoder)
            case .contest(let contest): try contest.encode(to: encoder)
            }
        }
    }

    struct ContestContent: Encodable, Sendable {
        let contest_id: String
        let title: String
        let organizer_id: String
        let entry_count: Int64
        let pool_cents: Int64
        let currency: Currency
    }

    struct SessionContent: Encodable, Sendable {
        let sid: SessionID
        let payee_id: String
        let amount_cents: Int64
        let tip_cents: Int64?
        let currency: Currency
        let memo: String?
        let payee_reference: String?
        let refund_cents: Int64?
        let refund_tip_cents: Int64?
        let refunded_cents: Int64
    }

    /// - Throws: `LedgerError` with `corrupt` if the record's body cannot be read.
    init(_ delivery: WebhookDelivery) throws {
        type = delivery.kind
        timestamp = delivery.at
        data =
            Contest.EventKind(rawValue: delivery.kind) == nil
            ? .session(try SessionContent(delivery)) : .contest(try ContestContent(delivery))
    }

    func bytes() throws -> [UInt8] {
        try CanonicalJSON.encode(self)
    }
}

extension WebhookBody.ContestContent {
    fileprivate init(_ delivery: WebhookDelivery) throws {
        let body = try decoded(Contest.Body.self, from: delivery.body)
        contest_id = delivery.record.rawValue
        title = body.terms.title
        organizer_id = delivery.owner.rawValue
        entry_count = body.entryCount
        pool_cents = PrizeRules.Division(body.terms, entries: body.entryCount).pool
        currency = body.terms.currency
    }
}

extension WebhookBody.SessionContent {
    fileprivate init(_ delivery: WebhookDelivery) throws {
        guard let sid = SessionID(rawValue: delivery.record.rawValue) else {
            throw LedgerError.corrupt("a session's id")
        }
        let session = try Session.Body(delivery.body)
        let refundTip = delivery.amount.map {
            Session.tip(inRefund: $0, total: session.refunded, amount: session.amount)
        }
        self.init(
            sid: sid,
            payee_id: delivery.owner.rawValue,
            amount_cents: session.amount,
            tip_cents: session.tip,
            currency: session.currency,
            memo: session.memo,
            payee_reference: session.reference,
            refund_cents: delivery.amount,
            refund_tip_cents: session.tip == nil ? nil : refundTip,
            refunded_cents: session.refunded
        )
    }
}
