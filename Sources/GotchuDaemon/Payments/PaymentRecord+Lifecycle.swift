import FoundationEssentials
import GotchuAPI
import GotchuCore

extension PaymentRecord {
    /// A payment that a person has just agreed to.
    init(
        new: NewPayment,
        session: ResolvedSession,
        payer: String,
        server: String,
        call: IdempotentCall?
    ) {
        let key = IdempotencyKey.random()
        let send = SendRequest(
            sid: session.sid,
            expectedAmountCents: new.confirmAmountCents,
            tipCents: new.tipCents
        )
        let now = Timestamp.now
        self.init(
            id: String(key.rawValue.prefix(12)),
            key: key,
            sid: session.sid,
            eid: new.eid,
            server: server,
            payer: payer,
            body: String(decoding: CanonicalJSON.bytes(of: send), as: UTF8.self),
            amountCents: session.amountCents,
            tipCents: new.tipCents,
            currency: session.currency,
            payee: session.payee,
            payeeID: session.payeeID,
            createdAt: now,
            expiresAt: session.expiresAt,
            updatedAt: now,
            stage: .locking,
            call: call
        )
    }

    /// A refund that a person wants.
    ///
    /// - Parameters:
    ///   - amount: All of it in figures, so that a resend asks for the same.
    ///   - attempt: The newest try of the same wish that is remembered, or 0. If the server has
    ///     declined that one for good, the driver goes on to the next.
    init(new: NewRefund, amount: Money, attempt: Int, payee: String, server: String) {
        let body = RefundRequest(amountCents: amount.minorUnits)
        let now = Timestamp.now
        self.init(
            id: String(IdempotencyKey.random().rawValue.prefix(12)),
            key: .refund(
                of: new.sid,
                wished: new.amountCents,
                amount: amount.minorUnits,
                reference: new.reference,
                attempt: attempt
            ),
            sid: new.sid,
            eid: nil,
            server: server,
            payer: payee,
            body: String(decoding: CanonicalJSON.bytes(of: body), as: UTF8.self),
            amountCents: amount.minorUnits,
            currency: amount.currency,
            payee: "",
            createdAt: now,
            expiresAt: nil,
            updatedAt: now,
            stage: .locking,
            refund: new,
            attempt: attempt
        )
    }

    /// Goes on to the key of the next try of the same refund.
    mutating func takeNextKey() {
        guard let refund, let attempt else {
            preconditionFailure("only a refund's key follows from what is wished")
        }
        self.attempt = attempt + 1
        key = .refund(
            of: sid,
            wished: refund.amountCents,
            amount: amountCents,
            reference: refund.reference,
            attempt: attempt + 1
        )
    }

    /// Notes how the payment ended.
    mutating func end(_ end: PaymentEnd) {
        switch end {
        case .paid(let receipt):
            stage = .paid
            self.receipt = receipt
            if refund != nil { tipCents = receipt.tipCents }
        case .declined(let refusal):
            stage = .declined
            self.refusal = refusal
        }
    }
}
