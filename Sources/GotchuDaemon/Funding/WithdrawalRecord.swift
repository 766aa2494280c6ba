import GotchuAPI
import GotchuCore

/// A withdrawal in the journal: from before its first byte is sent until the server has it.
struct WithdrawalRecord: Codable, Equatable, Sendable {
    /// The definite end of ordering it.
    enum End: Codable, Equatable, Sendable {
        case ordered(WithdrawalReply)
        case declined(Decline)
    }

    let id: String
    /// The one key of this withdrawal, for its whole life.
    let key: IdempotencyKey
    let amountCents: Int64
    /// The exact bytes of the order.
    let body: String
    let server: String
    let user: String
    let createdAt: Timestamp
    var end: End?
    /// The key of the call that created it, if it may be repeated.
    let call: IdempotencyKey?

    init(_ new: NewWithdrawal, user: String, server: String, call: IdempotencyKey?) {
        key = .random()
        id = String(key.rawValue.prefix(12))
        amountCents = new.amountCents
        let order = WithdrawalRequest(
            amountCents: new.amountCents,
            bankAccountID: new.bankAccountID
        )
        body = String(decoding: CanonicalJSON.bytes(of: order), as: UTF8.self)
        self.user = user
        self.server = server
        createdAt = .now
        self.call = call
    }

    /// The record as the local API has it.
    ///
    /// - Parameter reason: The reason why its end is not known, if the server was asked.
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
            nextStep: "gotchu-ctl payouts"
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
