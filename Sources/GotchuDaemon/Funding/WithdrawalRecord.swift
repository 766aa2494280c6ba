import GotchuAPI
import GotchuCore
import PaymentClient

/// The withdrawals, each resent until the server accepts or refuses it.
typealias WithdrawalService = OrderService<WithdrawalRecord>

/// A withdrawal in the journal.
struct WithdrawalRecord: OrderRecord {
    static let kindName = "withdrawal"
    static let nextStep = "gotchu-ctl payouts"

    enum End: Codable, Equatable, Sendable {
        case ordered(WithdrawalReply)
        case declined(Decline)
    }

    let id: String
    /// The idempotency key of every send.
    let key: IdempotencyKey
    let amountCents: Int64
    /// The exact bytes of the request's body.
    let body: String
    let server: String
    let user: String
    let createdAt: Timestamp
    var end: End?
    let call: IdempotentCall?

    init(_ new: NewWithdrawal, user: String, server: String, call: IdempotentCall?) {
        key = .random()
        id = String(key.rawValue.prefix(12))
        amountCents = new.amountCents
        let order = JSONValue.members([
            "amount_cents": .integer(new.amountCents),
            "bank_account_id": new.bankAccountID.map(JSONValue.string),
        ])
        body = String(decoding: CanonicalJSON.bytes(of: order), as: UTF8.self)
        self.user = user
        self.server = server
        createdAt = .now
        self.call = call
    }

    init?(_ record: JournalRecord) {
        guard case .withdrawal(let withdrawal) = record else { return nil }
        self = withdrawal
    }

    var isOpen: Bool { end == nil }
    var line: JournalRecord { .withdrawal(self) }

    func send(with client: PaymentClient) async -> Answer<WithdrawalReply> {
        await client.withdraw(body: Array(body.utf8), key: key)
    }

    func ended(by end: Result<WithdrawalReply, Problem>) -> WithdrawalRecord {
        var record = self
        switch end {
        case .success(let reply): record.end = .ordered(reply)
        case .failure(let problem): record.end = .declined(Decline(problem))
        }
        return record
    }

    func view(_ reason: UnresolvedReason?) -> WithdrawalView {
        let amount = Money(minorUnits: amountCents)
        var view = WithdrawalView(
            id: id,
            state: reason == nil ? .sending : .unknown,
            amountCents: amountCents,
            createdAt: createdAt,
            withdrawal: nil,
            code: reason?.refusal?.code,
            detail: reason == nil
                ? "Ordering a withdrawal of \(amount)."
                : "The payment server has not confirmed. gotchud keeps asking; it pays out once.",
            nextStep: Self.nextStep
        )
        switch end {
        case nil: break
        case .ordered(let reply):
            view.state = .ordered
            view.withdrawal = reply
            view.detail = "Withdrawal of \(amount) \(reply.status.rawValue)."
            view.nextStep = nil
        case .declined(let refusal):
            view.state = .declined
            view.code = refusal.code
            view.detail = refusal.detail
        }
        return view
    }
}
