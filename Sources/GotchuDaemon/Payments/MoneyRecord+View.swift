import GotchuAPI
import GotchuCore

extension PaymentRecord {
    func view(_ reason: UnresolvedReason?) -> PaymentView {
        PaymentView(
            id: id,
            state: state(reason),
            sid: sid,
            eid: eid,
            amountCents: amountCents,
            tipCents: tipCents,
            currency: currency,
            payee: payee,
            payeeID: payeeID,
            createdAt: createdAt,
            updatedAt: updatedAt,
            code: refusal?.code ?? reason?.refusal?.code,
            detail: sentence(reason),
            nextStep: nextStep(reason),
            newBalanceCents: receipt?.newBalanceCents,
            transferID: receipt?.transferID
        )
    }

    private func state(_ reason: UnresolvedReason?) -> PaymentView.State {
        switch stage {
        case .begun: reason == nil ? .locking : .unknown
        case .open(.locking): .locking
        case .open(.sending): reason == nil ? .sending : .unknown
        case .ended(.paid): .paid
        case .ended(.declined): .declined
        }
    }

    private func sentence(_ reason: UnresolvedReason?) -> String {
        switch stage {
        case .begun(let progress), .open(let progress):
            reason?.sentence(
                "it charges once",
                server: server,
                mayBeSent: mayBeSent
            ) ?? (progress == .locking ? "Asking for the session." : "Sending \(amount).")
        case .ended(.paid): "Paid \(amount)."
        case .ended(.declined(let refusal)): refusal.detail
        }
    }

    private func nextStep(_ reason: UnresolvedReason?) -> String? {
        switch stage {
        case .begun, .open(.locking): reason?.nextStep(otherwise: "gotchu-ctl cancel \(id)")
        case .open(.sending): reason?.nextStep(otherwise: "gotchu-ctl history")
        case .ended(.paid): nil
        case .ended(.declined(let refusal)): refusal.nextStep(otherwise: "gotchu-ctl scan")
        }
    }
}

extension RefundRecord {
    func view(_ reason: UnresolvedReason?) -> PaymentView {
        PaymentView(
            id: id,
            kind: .refund,
            state: state(reason),
            sid: sid,
            eid: nil,
            amountCents: amountCents,
            tipCents: receipt?.tipCents,
            currency: currency,
            payee: "",
            createdAt: createdAt,
            updatedAt: updatedAt,
            code: refusal?.code ?? reason?.refusal?.code,
            detail: sentence(reason),
            nextStep: nextStep(reason),
            newBalanceCents: receipt?.newBalanceCents,
            transferID: receipt?.transferID,
            wasMadeBefore: receipt?.wasMadeBefore
        )
    }

    private func state(_ reason: UnresolvedReason?) -> PaymentView.State {
        switch stage {
        case .begun, .open: reason == nil ? .sending : .unknown
        case .ended(.paid): .paid
        case .ended(.declined): .declined
        }
    }

    private func sentence(_ reason: UnresolvedReason?) -> String {
        switch stage {
        case .begun, .open:
            reason?.sentence("it refunds once", server: server, mayBeSent: mayBeSent)
                ?? "Refunding \(amount)."
        case .ended(.paid(let receipt)):
            receipt.wasMadeBefore == true
                ? "\(amount) was refunded before by the same refund; nothing more was refunded."
                : "Refunded \(amount)."
        case .ended(.declined(let refusal)): refusal.detail
        }
    }

    private func nextStep(_ reason: UnresolvedReason?) -> String? {
        switch stage {
        case .begun, .open: reason?.nextStep(otherwise: "gotchu-ctl history")
        case .ended(.paid): nil
        case .ended(.declined(let refusal)): refusal.nextStep(otherwise: "gotchu-ctl history")
        }
    }
}

extension UnresolvedReason {
    /// Returns a message with the reason why the record is open, and the user's next step.
    ///
    /// - Parameter once: The promise that a resend moves money only once: "it charges once".
    fileprivate func sentence(_ once: String, server: String, mayBeSent: Bool) -> String {
        let known = mayBeSent ? "It is not known whether it was done" : "Nothing was sent yet"
        return switch self {
        case .noAnswer:
            mayBeSent
                ? "The payment server has not confirmed. gotchud keeps asking; \(once)."
                : "The payment server does not answer. \(known); gotchud keeps trying."
        case .journal: "\(known): the journal cannot be written. gotchud keeps trying."
        case .refused(let refusal):
            "\(known): the payment server only says “\(refusal.detail)” "
                + "(\(refusal.code)). gotchud keeps asking; \(once). Tell its operator."
        case .unauthorized:
            "\(known): the payment server does not accept the login any more. "
                + "Log in again as the same user, and gotchud asks."
        case .otherLogin:
            "\(known): it was begun under another login. "
                + "Log in as that user again, and gotchud asks."
        case .otherServer:
            "\(known): it was begun at \(server). "
                + "Configure that payment server again, and gotchud asks."
        }
    }

    fileprivate func nextStep(otherwise: String) -> String {
        switch self {
        case .unauthorized, .otherLogin: "gotchu-ctl login"
        case .otherServer: DaemonFailure.checkCommand
        case .journal: "df -h"
        case .noAnswer, .refused: otherwise
        }
    }
}

extension Decline {
    fileprivate func nextStep(otherwise: String) -> String {
        switch ErrorCode(rawValue: code) {
        case .unauthorized: "gotchu-ctl login"
        case .insufficientWalletBalance: "gotchu-ctl wallet"
        case .notRefundable: "gotchu-ctl earnings history"
        case .journalUnwritable: "df -h"
        default: otherwise  // SAFETY: every other refusal is about the session.
        }
    }
}
