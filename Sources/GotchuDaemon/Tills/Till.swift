import GotchuAPI
import GotchuCore

/// A paired till page, as stored in the state file.
struct Till: Codable, Equatable {
    let name: String
    /// The SHA-256 of the till's bearer token in hexadecimal. The token itself is not stored.
    let hash: String
    let createdAt: Timestamp
    let refundsPerDayCents: Int64?
    /// The date of the refunds in `refunds`, in this machine's time zone.
    var refundDay: String?
    /// The refunds of that date in minor units, by a hash of their contents. A repeated refund is
    /// counted once.
    var refunds: [String: Int64]

    /// The maximum number of refunds in a day.
    static let refundLimit = 500

    /// Returns the sum of the till's refunds on a date.
    func refunded(on day: String) -> Int64 {
        refundDay == day ? refunds.values.reduce(0, +) : 0
    }

    /// Counts a refund before it is made.
    ///
    /// - Returns: True if the refund was counted now, false if it was counted before; `nil` if the
    ///   till may not make it on that date.
    mutating func reserve(_ cents: Int64, as wish: String, on day: String) -> Bool? {
        guard let limit = refundsPerDayCents, cents > 0 else { return nil }
        if refundDay != day { (refundDay, refunds) = (day, [:]) }
        if refunds[wish] != nil { return false }
        let sum = refunded(on: day).addingReportingOverflow(cents)
        guard !sum.overflow, sum.partialValue <= limit, refunds.count < Self.refundLimit else {
            return nil
        }
        refunds[wish] = cents
        return true
    }

    /// Removes a refund that was not made from the count.
    mutating func release(_ wish: String, on day: String) {
        if refundDay == day { refunds[wish] = nil }
    }

    func view(on day: String) -> PairingView {
        PairingView(
            name: name,
            createdAt: createdAt,
            refundsPerDayCents: refundsPerDayCents,
            refundedTodayCents: refundsPerDayCents.map { _ in refunded(on: day) }
        )
    }
}
