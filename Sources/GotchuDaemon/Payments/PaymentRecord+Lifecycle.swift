import GotchuAPI
import GotchuCore
import PaymentClient

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
        let send = SendRequest(sid: session.sid, expectedAmountCents: new.confirmAmountCents)
        let now = Timestamp.now
        self.init(
            id: String(key.rawValue.prefix(12)),
            key: key,
            sid: session.sid,
            eid: new.eid,
            server: server,
            payer: payer,
            body: String(decoding: PaymentClient.encode(send), as: UTF8.self),
            amountCents: session.amountCents,
            currency: session.currency,
            payee: session.payee,
            createdAt: now,
            expiresAt: session.expiresAt,
            updatedAt: now,
            stage: .locking,
            call: call
        )
    }

    /// A refund that a person wants.
    ///
    /// - Parameter amount: All of it in figures, so that a resend asks for the same.
    init(new: NewRefund, amount: Money, payee: String, server: String) {
        let key = IdempotencyKey.random()
        let body = RefundRequest(amountCents: amount.minorUnits)
        let now = Timestamp.now
        self.init(
            id: String(key.rawValue.prefix(12)),
            key: key,
            sid: new.sid,
            eid: nil,
            server: server,
            payer: payee,
            body: String(decoding: PaymentClient.encode(body), as: UTF8.self),
            amountCents: amount.minorUnits,
            currency: amount.currency,
            payee: "",
            createdAt: now,
            expiresAt: nil,
            updatedAt: now,
            stage: .locking,
            refund: new
        )
    }

    var amount: Money { Money(minorUnits: amountCents, currency: currency) }

    /// Notes how the payment ended.
    mutating func end(_ end: PaymentEnd) {
        switch end {
        case .paid(let receipt):
            stage = .paid
            self.receipt = receipt
        case .declined(let refusal):
            stage = .declined
            self.refusal = refusal
        }
    }
}

extension PaymentView {
    /// A payment as its journal record has it.
    ///
    /// - Parameter isUncertain: Whether the server's last answer was no answer.
    init(_ record: PaymentRecord, isUncertain: Bool) {
        let state: State =
            switch record.stage {
            case .locking: isUncertain ? .unknown : .locking
            case .sending: isUncertain ? .unknown : .sending
            case .paid: .paid
            case .declined: .declined
            }
        self.init(
            id: record.id,
            kind: record.refund == nil ? nil : .refund,
            state: state,
            sid: record.sid,
            eid: record.eid,
            amountCents: record.amountCents,
            currency: record.currency,
            payee: record.payee,
            createdAt: record.createdAt,
            updatedAt: record.updatedAt,
            code: record.refusal?.code,
            detail: state.sentence(record),
            nextStep: state.nextStep(record),
            newBalanceCents: record.receipt?.newBalanceCents,
            transferID: record.receipt?.transferID
        )
    }
}

extension PaymentView.State {
    fileprivate func sentence(_ record: PaymentRecord) -> String {
        guard record.refund == nil else { return refundSentence(record) }
        return switch self {
        case .locking: "Asking for the session."
        case .sending: "Sending \(record.amount)."
        case .unknown:
            record.stage == .locking
                ? "The payment server does not answer. Nothing was sent yet; gotchud keeps trying."
                : "The payment server has not confirmed. gotchud keeps asking; it charges once."
        case .paid: "Paid \(record.amount)."
        case .declined: record.refusal?.detail ?? "Not paid."
        }
    }

    private func refundSentence(_ record: PaymentRecord) -> String {
        switch self {
        case .locking, .sending: "Giving \(record.amount) back."
        case .unknown:
            "The payment server has not confirmed. gotchud keeps asking; it gives back once."
        case .paid: "Gave \(record.amount) back."
        case .declined: record.refusal?.detail ?? "Not given back."
        }
    }

    fileprivate func nextStep(_ record: PaymentRecord) -> String? {
        switch self {
        case .locking, .sending, .paid: return nil
        case .unknown: return "gotchu-ctl history"
        case .declined:
            switch record.refusal.flatMap({ ErrorCode(rawValue: $0.code) }) {
            case .unauthorized: return "gotchu-ctl login"
            case .insufficientWalletBalance: return "gotchu-ctl wallet"
            case .journalUnwritable: return "df -h"
            default:  // SAFETY: every other refusal is about the session.
                return record.refund == nil ? "gotchu-ctl scan" : "gotchu-ctl history"
            }
        }
    }
}
