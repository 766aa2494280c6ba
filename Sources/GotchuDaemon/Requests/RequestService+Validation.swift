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
