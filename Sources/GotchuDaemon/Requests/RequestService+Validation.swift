import GotchuAPI
import GotchuCore

extension RequestService {
    /// The longest memo, in characters.
    static let memoLimit = 140
    /// For how long a request may be open, in seconds.
    static let allowedSeconds = 1...300

    static func validate(_ new: NewRequest) throws(Problem) {
        guard Money.allowedRequest.contains(new.amountCents) else {
            throw Problem(
                .validationError,
                detail: "amount_cents must be 1 to \(Money.allowedRequest.upperBound)."
            )
        }
        if let seconds = new.ttlSeconds, !allowedSeconds.contains(seconds) {
            throw Problem(
                .validationError,
                detail: "ttl_seconds must be 1 to \(allowedSeconds.upperBound)."
            )
        }
        if let memo = new.memo, memo.unicodeScalars.count > memoLimit {
            throw Problem(
                .validationError,
                detail: "memo may have \(memoLimit) characters at most."
            )
        }
    }
}

extension RequestView {
    /// A request as its journal record and the air have it.
    init(_ record: RequestRecord, isOnAir: Bool) {
        self.init(
            id: record.sid,
            eid: record.eid,
            state: record.state,
            amountCents: record.amountCents,
            currency: record.currency,
            memo: record.memo,
            createdAt: record.createdAt,
            expiresAt: record.expiresAt,
            paidAt: record.paidAt,
            isOnAir: isOnAir,
            reason: record.state.sentence
        )
    }
}

extension RequestRecord {
    var amount: Money { Money(minorUnits: amountCents, currency: currency) }
}

extension RequestView.State {
    /// What a person is told.
    fileprivate var sentence: String {
        switch self {
        case .advertising: "Waiting for a payer."
        case .locked: "A payer is about to pay."
        case .paid: "Paid."
        case .expired: "Nobody paid in time."
        case .cancelled: "Taken back by the payee."
        case .unknown: "The payment server cannot be asked; gotchud keeps trying."
        }
    }
}
