import GotchuAPI
import GotchuCore

extension RequestView {
    /// Creates the view of a request from its journal record and its state on the air.
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
            places: record.places,
            isAllOrNothing: record.isAllOrNothing,
            contest: record.contest,
            currency: record.currency,
            memo: record.memo,
            createdAt: record.createdAt,
            expiresAt: record.expiresAt,
            paidAt: record.paidAt,
            payee: record.payee,
            payLink: record.payLink,
            noticedAt: record.state == .advertising ? noticedAt : nil,
            isOnAir: isOnAir,
            reason: record.sentence
        )
    }
}

extension RequestRecord {
    /// The message for the user.
    fileprivate var sentence: String {
        switch state {
        case .advertising: "Waiting for a payer."
        case .locked: "A payer is about to pay."
        case .paid: "Paid."
        case .expired:
            switch places?.kind {
            case nil: "Nobody paid in time."
            case Places.entry: "The desk is closed. \(rest)"
            default: "Not all have paid in time. \(rest)"
            }
        case .cancelled where places?.kind == Places.entry: "Entries are closed. \(rest)"
        case .cancelled: "Cancelled by the payee." + (places == nil ? "" : " \(rest)")
        case .unknown: "The payment server cannot be asked; gotchud keeps trying."
        }
    }

    /// The sentence about the shares or entries that were paid.
    private var rest: String {
        if contest?.state == .cancelled {
            return "The contest was cancelled: all stakes have gone back."
        }
        if isAllOrNothing == true { return "Nobody is charged: what was paid has gone back." }
        if places?.paid == 0 { return "Nobody was charged." }
        return places?.kind == Places.entry
            ? "Those who paid are in the contest." : "What was paid is the payee's."
    }
}
