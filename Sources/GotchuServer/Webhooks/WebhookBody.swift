internal import Contests
internal import FoundationEssentials
internal import Funding
internal import GotchuAPI
internal import GotchuCore
internal import Ledger
internal import Outbox
internal import Payments

/// The body of a webhook. An event has the same bytes in every attempt.
struct WebhookBody: Encodable, Sendable {
    let type: String
    let timestamp: Timestamp
    let data: Content

    enum Content: Encodable, Sendable {
        case session(SessionContent)
        case withdrawal(WithdrawalContent)
        case contest(ContestContent)

        func encode(to encoder: any Encoder) throws {
            switch self {
            case .session(let content): try content.encode(to: encoder)
            case .withdrawal(let content): try content.encode(to: encoder)
            case .contest(let content): try content.encode(to: encoder)
            }
        }
    }

    struct WithdrawalContent: Encodable, Sendable {
        let withdrawal_id: String
        let payee_id: String
        let amount_cents: Int64
        let currency: Currency
        let reason: String?
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
        var tip_cents: Int64?
        let currency: Currency
        let memo: String?
        let payee_reference: String?
        var refund_cents: Int64?
        var refund_tip_cents: Int64?
        let refunded_cents: Int64
        /// The id of a share's group session. `place` is the number of the share.
        var group_sid: String?
        var place: Int64?
        /// The fields of a group session. Its kind is `split` or `entry`.
        var kind: String?
        var places: Int?
        var places_paid: Int?
        var paid_cents: Int64?
        /// The contest of a desk, or of a desk's share.
        let contest: Entered?
    }

    struct Entered: Encodable, Sendable {
        let id: String
        /// The contest's title, for a desk only. Shares have the memo instead.
        var title: String?
    }

    /// - Throws: `LedgerError` with `corrupt` if the record's body cannot be read.
    init(_ delivery: WebhookDelivery) throws {
        type = delivery.kind
        timestamp = delivery.at
        data =
            if FundingEvent(rawValue: delivery.kind) != nil {
                .withdrawal(try WithdrawalContent(delivery))
            } else if Contest.EventKind(rawValue: delivery.kind) != nil {
                .contest(try ContestContent(delivery))
            } else {
                .session(try SessionContent(delivery))
            }
    }

    func bytes() throws -> [UInt8] {
        try CanonicalJSON.encode(self)
    }
}

extension WebhookBody.WithdrawalContent {
    fileprivate init(_ delivery: WebhookDelivery) throws {
        let body: WithdrawalBody = try decoded(from: delivery.body)
        self.init(
            withdrawal_id: delivery.record.rawValue,
            payee_id: delivery.owner.rawValue,
            amount_cents: body.amount.minorUnits,
            currency: body.amount.currency,
            reason: body.reason?.code
        )
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
        guard !sid.isGroup else {
            self.init(sid, try Group.Body(delivery.body), delivery)
            return
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
            refunded_cents: session.refunded,
            group_sid: session.group,
            place: session.place,
            contest: session.pot.flatMap { pot in
                pot == session.group ? nil : WebhookBody.Entered(id: pot)
            }
        )
    }

    private init(_ sid: SessionID, _ group: Group.Body, _ delivery: WebhookDelivery) {
        self.init(
            sid: sid,
            payee_id: delivery.owner.rawValue,
            amount_cents: group.amount,
            currency: group.currency,
            memo: group.memo,
            payee_reference: group.reference,
            refunded_cents: 0,
            kind: group.purpose,
            places: (group.sale?.places).map(Int.init) ?? group.shares.count,
            places_paid: group.received.count,
            paid_cents: group.received.amount,
            contest: group.sale.map { sale in
                WebhookBody.Entered(id: sale.record.rawValue, title: sale.title)
            }
        )
    }
}
