import FoundationEssentials
import GotchuAPI
import GotchuCore
import PaymentClient

/// A payment that the user has agreed to.
struct PaymentRecord: MoneyRecord {
    let id: String
    /// The idempotency key of this payment. All sends have the same key.
    let key: IdempotencyKey
    let sid: SessionID
    let eid: EID?
    let server: String
    let user: String
    /// The exact bytes of the send's body.
    let body: String
    /// The amount that the user saw.
    let amountCents: Int64
    /// The tip in addition to the amount, in minor units.
    var tipCents: Int64?
    let currency: Currency
    let payee: String
    /// The payee's id, if the server gave one. It distinguishes payees of the same name.
    var payeeID: String?
    let createdAt: Timestamp
    var updatedAt: Timestamp
    var stage: MoneyStage<PaymentFlow.Progress>
    /// True if the payment is a share of a bill. The lock then includes the amount.
    var isShare: Bool?
    /// The call that created the payment, if that call has an idempotency key.
    var call: IdempotentCall?
    /// Further calls with an idempotency key that requested the payment while it was open.
    var joined: [IdempotentCall]?

    var amount: TippedAmount {
        TippedAmount(Money(minorUnits: amountCents, currency: currency), tip: tipCents)
    }

    /// All calls with an idempotency key that requested the payment.
    var calls: [IdempotentCall] { (call.map { [$0] } ?? []) + (joined ?? []) }

    /// A Boolean that is true while the payment can be cancelled because nothing was sent.
    var isLocking: Bool {
        switch stage {
        case .begun, .open(.locking): true
        case .open(.sending), .ended: false
        }
    }

    var mayBeSent: Bool { !isLocking }
    var line: JournalRecord { .payment(self) }

    func flow(from progress: PaymentFlow.Progress, isResumed: Bool) -> PaymentFlow {
        PaymentFlow(from: progress)
    }

    func send(_ call: PaymentFlow.Call, _ client: PaymentClient) async -> PaymentAnswer {
        switch call {
        case .lock:
            // Only a share sends its amount: other payment servers reject members that they do not
            // know.
            return await client.lock(sid, expecting: isShare == true ? amountCents : nil)
                .paymentAnswer { _ in Receipt() }
        case .unlock: return await client.unlock(sid).paymentAnswer { _ in Receipt() }
        case .lookUp:
            let answer = await client.sendOutcome(of: key)
            // An answer about another session decides nothing. A share has an id of its own.
            if case .success(let known) = answer, known.sid != sid, isShare != true {
                return .unknown(retryAfter: nil)
            }
            return answer.paymentAnswer
        case .send:
            return await client.send(body: Array(body.utf8), key: key).paymentAnswer { reply in
                Receipt(
                    newBalanceCents: reply.newBalanceCents.value,
                    transferID: reply.transferID
                )
            }
        }
    }
}

extension PaymentRecord {
    /// Creates the record of a payment that the user has just agreed to.
    init(
        new: NewPayment,
        session: ResolvedSession,
        user: String,
        server: String,
        call: IdempotentCall?
    ) {
        let key = IdempotencyKey.random()
        let send = JSONValue.members([
            "sid": .string(session.sid.rawValue),
            "expected_amount_cents": .integer(new.confirmAmountCents),
            "tip_cents": new.tipCents.map(JSONValue.integer),
        ])
        let now = Timestamp.now
        self.init(
            id: String(key.rawValue.prefix(12)),
            key: key,
            sid: session.sid,
            eid: new.eid,
            server: server,
            user: user,
            body: String(decoding: CanonicalJSON.bytes(of: send), as: UTF8.self),
            amountCents: session.amountCents,
            tipCents: new.tipCents,
            currency: session.currency,
            payee: session.payee,
            payeeID: session.payeeID,
            createdAt: now,
            updatedAt: now,
            stage: .begun(.locking),
            isShare: session.places == nil ? nil : true,
            call: call
        )
    }
}
