import GotchuAPI
import GotchuCore

/// A paired till page, as stored in the state file.
struct Till: Codable, Equatable {
    let name: String
    /// The SHA-256 of the till's bearer token in hexadecimal. The token itself is not stored.
    let hash: String
    let createdAt: Timestamp
    let refundsPerDayCents: Int64?
    /// The dates on which it refunded, the one that was used last at the end. Several are kept: a
    /// clock that shows another date for a while must not make this one begin anew.
    var days: [RefundDay] = []

    /// The refunds of a date in this machine's time zone.
    struct RefundDay: Codable, Equatable {
        let date: String
        /// In minor units, by a hash of their contents. A repeated refund is counted once.
        var refunds: [String: Int64] = [:]
    }

    /// The maximum number of dates that are kept.
    static let dayLimit = 8
    /// The maximum number of refunds in a day.
    static let refundLimit = 500

    /// Returns the sum of the till's refunds on a date.
    func refunded(on day: String) -> Int64 {
        days.first { $0.date == day }?.refunds.values.reduce(0, +) ?? 0
    }

    /// Counts a refund before it is made.
    ///
    /// - Returns: True if the refund was counted now, false if it was counted before; `nil` if the
    ///   till may not make it on that date.
    mutating func reserve(_ cents: Int64, as wish: String, on day: String) -> Bool? {
        guard let limit = refundsPerDayCents, cents > 0 else { return nil }
        var today = days.first { $0.date == day } ?? RefundDay(date: day)
        if today.refunds[wish] != nil { return false }
        let sum = refunded(on: day).addingReportingOverflow(cents)
        guard !sum.overflow, sum.partialValue <= limit, today.refunds.count < Self.refundLimit
        else { return nil }
        today.refunds[wish] = cents
        days = (days.filter { $0.date != day } + [today]).suffix(Self.dayLimit)
        return true
    }

    /// Removes a refund that was not made from the count.
    mutating func release(_ wish: String, on day: String) {
        guard let index = days.firstIndex(where: { $0.date == day }) else { return }
        days[index].refunds[wish] = nil
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
