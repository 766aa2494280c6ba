package import GotchuCore

/// The answer to `GET /api/payments/earnings`: payments to the caller's wallet minus refunds from
/// it.
package struct EarningsReply: Codable, Equatable, Sendable {
    package var currency: Currency
    package var period: EarningsPeriod
    /// The time zone of the days.
    package var zone: String
    /// The first and last date; absent for all time.
    package var from: String?
    package var to: String?
    /// The time at which the ledger was read.
    package var asOf: WireTime
    /// The total of the period; `counts` is absent for all time.
    package var totalCents: WireInteger
    package var counts: EarningsCounts?
    package var todayCents: WireInteger
    package var weekCents: WireInteger
    package var monthCents: WireInteger
    package var allTimeCents: WireInteger
    /// The three parts of all earnings: still in the wallet; on the way to a bank; paid out or
    /// spent.
    package var pendingCents: WireInteger?
    package var processingCents: WireInteger?
    package var paidCents: WireInteger?
    /// All hours or days of the period; absent unless requested.
    package var parts: [EarningsPart]?

    package init(
        currency: Currency,
        period: EarningsPeriod,
        zone: String,
        from: String?,
        to: String?,
        asOf: Timestamp,
        totalCents: WireInteger,
        counts: EarningsCounts?,
        todayCents: WireInteger,
        weekCents: WireInteger,
        monthCents: WireInteger,
        allTimeCents: WireInteger,
        parts: [EarningsPart]?
    ) {
        self.currency = currency
        self.period = period
        self.zone = zone
        self.from = from
        self.to = to
        self.asOf = WireTime(asOf)
        self.totalCents = totalCents
        self.counts = counts
        self.todayCents = todayCents
        self.weekCents = weekCents
        self.monthCents = monthCents
        self.allTimeCents = allTimeCents
        self.parts = parts
    }

    enum CodingKeys: String, CodingKey {
        case currency, period, zone, from, to, counts, parts
        case asOf = "as_of"
        case totalCents = "total_cents"
        case todayCents = "today_cents"
        case weekCents = "week_cents"
        case monthCents = "month_cents"
        case allTimeCents = "all_time_cents"
        case pendingCents = "pending_cents"
        case processingCents = "processing_cents"
        case paidCents = "paid_cents"
    }
}

/// The period of a request for earnings.
package enum EarningsPeriod: String, Codable, CaseIterable, Sendable {
    case today
    /// From Monday to today.
    case week
    /// From the first of the month to today.
    case month
    case all
    /// The dates `from` to `to`, inclusive.
    case custom
}

/// The length of the parts of earnings.
package enum EarningsStep: String, Sendable {
    case hour, day
}

/// The number and sums of payments and refunds in a period.
package struct EarningsCounts: Codable, Equatable, Sendable {
    package var paymentCount: Int64 = 0
    /// The sum of the payments, tips included.
    package var takenCents: Int64 = 0
    package var refundCount: Int64 = 0
    /// The sum of the refunds, as a positive number.
    package var refundedCents: Int64 = 0

    package init() {}

    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        func number(_ key: CodingKeys) throws -> Int64 {
            try members.decode(WireCount.self, forKey: key).value
        }
        paymentCount = try number(.paymentCount)
        takenCents = try number(.takenCents)
        refundCount = try number(.refundCount)
        refundedCents = try number(.refundedCents)
    }

    /// The payments minus the refunds.
    package var keptCents: Int64 { takenCents - refundedCents }

    enum CodingKeys: String, CodingKey {
        case paymentCount = "payment_count"
        case takenCents = "taken_cents"
        case refundCount = "refund_count"
        case refundedCents = "refunded_cents"
    }
}

/// An hour or a day of a report.
package struct EarningsPart: Codable, Equatable, Sendable {
    package var startsAt: WireTime
    package var endsAt: WireTime
    /// The start as local time in the zone: `2026-11-21T08:00:00+01:00`.
    package var localTime: String
    package var counts: EarningsCounts

    package init(
        startsAt: Timestamp,
        endsAt: Timestamp,
        localTime: String,
        counts: EarningsCounts
    ) {
        self.startsAt = WireTime(startsAt)
        self.endsAt = WireTime(endsAt)
        self.localTime = localTime
        self.counts = counts
    }

    enum CodingKeys: String, CodingKey {
        case counts
        case startsAt = "starts_at"
        case endsAt = "ends_at"
        case localTime = "local_time"
    }
}

/// The answer to `GET /api/payments/earnings/history`, newest first.
package struct EarningsHistoryReply: Codable, Equatable, Sendable {
    package var entries: [EarningsEntry]
    package var nextCursor: String?

    package init(entries: [EarningsEntry], nextCursor: String?) {
        self.entries = entries
        self.nextCursor = nextCursor
    }

    enum CodingKeys: String, CodingKey {
        case entries
        case nextCursor = "next_cursor"
    }
}

/// A payment that was received, or a refund of one.
package struct EarningsEntry: Codable, Equatable, Sendable {
    package enum Kind: String, Codable, Sendable {
        case earning, refund
    }

    package enum PayoutStatus: String, Codable, Sendable {
        case pending, processing, paid
    }

    package var id: String
    package var sessionID: SessionID?
    package var type: Kind
    /// The amount without the house's share; positive.
    package var amountCents: WireInteger
    package var currency: Currency
    package var earnedAt: WireTime
    package var payoutStatus: PayoutStatus
    package var memo: String?
    package var payeeReference: String?

    package init(
        id: String,
        sessionID: SessionID?,
        type: Kind,
        amountCents: WireInteger,
        currency: Currency,
        earnedAt: Timestamp,
        payoutStatus: PayoutStatus,
        memo: String?,
        payeeReference: String?
    ) {
        self.id = id
        self.sessionID = sessionID
        self.type = type
        self.amountCents = amountCents
        self.currency = currency
        self.earnedAt = WireTime(earnedAt)
        self.payoutStatus = payoutStatus
        self.memo = memo
        self.payeeReference = payeeReference
    }

    enum CodingKeys: String, CodingKey {
        case id, type, currency, memo
        case amountCents = "amount_cents"
        case earnedAt = "earned_at"
        case payeeReference = "payee_reference"
        case payoutStatus = "payout_status"
        case sessionID = "session_id"
    }
}
