import GotchuAPI
import GotchuCore

extension RequestView {
    /// A request as its journal record and the air have it.
    init(
        _ record: RequestRecord,
        refundedCents: Int64? = nil,
        noticedAt: Timestamp?,
        isOnAir: Bool
    ) {
        self.init(
            id: record.sid,
            eid: record.eid,
            firstEID: record.firstEID,
            state: record.state,
            amountCents: record.amountCents,
            tipCents: record.tipCents,
            refundedCents: refundedCents,
            currency: record.currency,
            memo: record.memo,
            createdAt: record.createdAt,
            expiresAt: record.expiresAt,
            paidAt: record.paidAt,
            payee: record.payee,
            payLink: record.payLink,
            noticedAt: record.state == .advertising ? noticedAt : nil,
            isOnAir: isOnAir,
            reason: record.state.sentence
        )
    }
}

extension RequestView.State {
    /// The sentence for a person.
    fileprivate var sentence: String {
        switch self {
        case .advertising: "Waiting for a payer."
        case .locked: "A payer is about to pay."
        case .paid: "Paid."
        case .expired: "Nobody paid in time."
        case .cancelled: "Cancelled by the payee."
        case .unknown: "The payment server cannot be asked; gotchud keeps trying."
        }
    }
}
