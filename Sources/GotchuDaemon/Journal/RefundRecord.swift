import FoundationEssentials
import GotchuAPI
import GotchuCore
import PaymentClient

/// A refund of one of the user's paid requests.
struct RefundRecord: MoneyRecord {
    let id: String
    /// The refund as it was requested. The idempotency key is derived from it.
    let wish: NewRefund
    let server: String
    let user: String
    /// The exact bytes of the request's body.
    let body: String
    /// The whole refund in minor units, tip included.
    let amountCents: Int64
    let currency: Currency
    let createdAt: Timestamp
    var updatedAt: Timestamp
    var stage: MoneyStage<RefundFlow.Progress> {
        didSet { attempt = stage.progress?.attempt ?? attempt }
    }
    /// The attempt number in the last key. A later refund of the same wish begins with it.
    private(set) var attempt: Int

    /// - Parameters:
    ///   - amount: The amount to refund. A resend has the same amount.
    ///   - attempt: The newest known attempt for the same wish, or 0. If the server has finally
    ///     refused that attempt, the flow continues with the next one.
    init(_ wish: NewRefund, amount: Money, attempt: Int, user: String, server: String) {
        let fields = ["amount_cents": amount.minorUnits]
        id = String(IdempotencyKey.random().rawValue.prefix(12))
        self.wish = wish
        self.server = server
        self.user = user
        body = String(decoding: CanonicalJSON.bytes(of: fields), as: UTF8.self)
        amountCents = amount.minorUnits
        currency = amount.currency
        createdAt = .now
        updatedAt = createdAt
        stage = .begun(RefundFlow.Progress(attempt: attempt))
        self.attempt = attempt
    }

    var sid: SessionID { wish.sid }
    var mayBeSent: Bool { if case .begun = stage { false } else { true } }
    var line: JournalRecord { .refund(self) }

    var amount: TippedAmount {
        let money = Money(minorUnits: amountCents, currency: currency)
        return TippedAmount(money, tip: receipt?.tipCents, isIncluded: true)
    }

    private var key: IdempotencyKey {
        .refund(
            of: sid,
            requested: wish.amountCents,
            amount: amountCents,
            reference: wish.reference,
            attempt: attempt
        )
    }

    func flow(from progress: RefundFlow.Progress, isResumed: Bool) -> RefundFlow {
        RefundFlow(from: progress, isResumed: isResumed)
    }

    func send(_ call: RefundFlow.Call, _ client: PaymentClient) async -> PaymentAnswer {
        switch call {
        case .refund:
            let answer = await client.refund(sid, body: Array(body.utf8), key: key)
            // A reply about another refund decides nothing.
            if case .success(let reply) = answer, !isAbout(reply) {
                return .unknown(retryAfter: nil)
            }
            return answer.paymentAnswer { reply in
                Receipt(
                    newBalanceCents: reply.newBalanceCents.value,
                    transferID: reply.transferID,
                    tipCents: reply.tipCents?.value,
                    wasMadeBefore: reply.isReplay ? true : nil
                )
            }
        }
    }

    /// Returns true if the reply reports this refund.
    func isAbout(_ reply: RefundReply) -> Bool {
        reply.amountCents.value == amountCents
            && (0...amountCents).contains(reply.tipCents?.value ?? 0)
    }
}
