import GotchuAPI
import GotchuCore

extension PaymentView {
    /// A payment as its journal record has it.
    ///
    /// - Parameter doubt: Why its end is not known, if the server has been asked and did not say.
    init(_ record: PaymentRecord, doubt: Doubt?) {
        let state: State =
            switch record.stage {
            // A refund's key may have been sent in an earlier try that nobody here remembers.
            case .locking: doubt == nil || record.refund == nil ? .locking : .unknown
            case .sending: doubt == nil ? .sending : .unknown
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
            tipCents: record.tipCents,
            currency: record.currency,
            payee: record.payee,
            payeeID: record.payeeID,
            createdAt: record.createdAt,
            updatedAt: record.updatedAt,
            code: record.refusal?.code ?? (record.isOpen ? doubt?.refusal?.code : nil),
            detail: state.sentence(record, doubt),
            nextStep: state.nextStep(record, doubt),
            newBalanceCents: record.receipt?.newBalanceCents,
            transferID: record.receipt?.transferID,
            wasMadeBefore: record.receipt?.wasMadeBefore
        )
    }
}

extension PaymentView.State {
    fileprivate func sentence(_ record: PaymentRecord, _ doubt: Doubt?) -> String {
        guard record.refund == nil else { return refundSentence(record, doubt) }
        return switch self {
        case .locking: doubt.map { doubtful(record, $0) } ?? "Asking for the session."
        case .sending: "Sending \(record.amount)."
        case .unknown: doubtful(record, doubt ?? .noAnswer)
        case .paid: "Paid \(record.amount)."
        case .declined: record.refusal?.detail ?? "Not paid."
        }
    }

    private func refundSentence(_ record: PaymentRecord, _ doubt: Doubt?) -> String {
        switch self {
        case .locking, .sending: "Giving \(record.amount) back."
        case .unknown: doubtful(record, doubt ?? .noAnswer)
        case .paid:
            record.receipt?.wasMadeBefore == true
                ? "\(record.amount) had gone back already by the same refund; nothing more went."
                : "Gave \(record.amount) back."
        case .declined: record.refusal?.detail ?? "Not given back."
        }
    }

    /// What keeps it open, and what a person can do about it.
    private func doubtful(_ record: PaymentRecord, _ doubt: Doubt) -> String {
        let once = record.refund == nil ? "it charges once" : "it gives back once"
        let isSent = record.refund != nil || record.stage == .sending
        let known = isSent ? "It is not known whether it was done" : "Nothing was sent yet"
        switch doubt {
        case .noAnswer:
            return isSent
                ? "The payment server has not confirmed. gotchud keeps asking; \(once)."
                : "The payment server does not answer. \(known); gotchud keeps trying."
        case .journal:
            return "\(known): the journal cannot be written. gotchud keeps trying."
        case .refused(let refusal):
            return "\(known): the payment server only says “\(refusal.detail)” "
                + "(\(refusal.code)). gotchud keeps asking; \(once). Tell its operator."
        case .unauthorized:
            return "\(known): the payment server does not accept the login any more. "
                + "Log in again as the same user, and gotchud asks."
        case .otherLogin:
            return "\(known): it was begun under another login. "
                + "Log in as that user again, and gotchud asks."
        case .otherServer:
            return "\(known): it was begun at \(record.server). "
                + "Configure that payment server again, and gotchud asks."
        }
    }

    fileprivate func nextStep(_ record: PaymentRecord, _ doubt: Doubt?) -> String? {
        switch self {
        case .sending, .paid: return nil
        case .locking, .unknown:
            switch doubt {
            case nil where self == .locking: return nil
            case .unauthorized, .otherLogin: return "gotchu-ctl login"
            case .otherServer: return DaemonFailure.checkCommand
            case .journal: return "df -h"
            case .noAnswer, .refused, nil:
                return self == .locking
                    ? "gotchu-ctl cancel \(record.id)" : "gotchu-ctl history"
            }
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
