internal import GotchuAPI
internal import GotchuCore
internal import Hummingbird
internal import Ledger
internal import Payments
internal import ServiceProcess

/// The caller's earnings: sums by period, day or hour, and the payments behind them.
struct EarningsRoutes: Sendable {
    private static let currency = Currency.usd

    let ledger: Ledger
    let authentication: CallerAuthentication
    let funding: FundingOperations

    @Sendable func show(_ request: Request, _ context: ServerContext) async throws -> Response {
        let user = try await authentication.user(of: request, needing: .payee)
        var parameters = try QueryParameters(request)
        let query = try EarningsQuery(&parameters, now: ledger.now)
        try parameters.end()
        let found = try await earnings(of: Account.Key(.user(user), Self.currency), query.range)
        var reply = try query.reply(found)
        let breakdown = try await funding.earningsBreakdown(of: found.account, user: user)
        reply.pendingCents = WireInteger(breakdown.pending)
        reply.processingCents = WireInteger(breakdown.processing)
        reply.paidCents = WireInteger(breakdown.paid)
        return try Reply.json(reply)
    }

    private func earnings(
        of account: Account.Key,
        _ range: EarningsRange
    ) async throws -> AccountEarnings {
        let found = try await authentication.limits.heavyReads.run {
            try await ledger.earnings(of: account, range)
        }
        guard let found else {
            throw Problem(.notFound, detail: "This user has no wallet here.")
        }
        return found
    }

    /// Lists the payments and refunds, newest first. Entries that change no earnings are skipped,
    /// so a page may be shorter than its limit.
    @Sendable func history(_ request: Request, _ context: ServerContext) async throws -> Response {
        let user = try await authentication.user(of: request, needing: .payee)
        var parameters = try QueryParameters(request)
        let limit = try parameters.integer("limit", in: 1...HistoryRoutes.largestLimit)
        let text = parameters.text("cursor")
        let query = try EarningsQuery(&parameters, now: ledger.now, period: .all)
        try parameters.end()
        let key = Account.Key(.user(user), Self.currency)
        let found = try await earnings(of: key, query.range)
        let cursor = text.map { HistoryCursor($0, of: found.account) }
        if case .some(nil) = cursor {
            throw Problem.invalid("The cursor is none of this wallet's.")
        }
        let end = min(cursor??.number ?? .max, found.numbers.upperBound)
        let count = Int(
            min(limit ?? IntentRoutes.defaultLimit, max(0, end - found.numbers.lowerBound))
        )
        guard count > 0 else {
            return try Reply.json(EarningsHistoryReply(entries: [], nextCursor: nil))
        }
        let page = try await ledger.history(of: key, HistoryRange(.before(end), limit: count))
        let entries = page?.entries ?? []
        let breakdown = try await funding.earningsBreakdown(of: found.account, user: user)
        let last = entries.last?.entry.number ?? 1
        return try Reply.json(
            EarningsHistoryReply(
                entries: try entries.compactMap {
                    try EarningsEntry($0.entry, $0.record, breakdown)
                },
                nextCursor: last > found.numbers.lowerBound
                    ? HistoryCursor(after: last).text(for: found.account) : nil
            )
        )
    }
}

/// A query for earnings, and its reply.
struct EarningsQuery {
    /// The largest number of days of a report, and of a report by hour.
    static let (dayLimit, hourLimit): (Int64, Int64) = (400, 31)
    /// The earliest date of a report.
    private static let firstDay = CalendarDay("2000-01-01")

    private let period: EarningsPeriod
    private let zoneName: String
    private let zone: TimeZoneRules
    private let now: Timestamp
    private let today: CalendarDay
    /// The first and the last date of the period; `nil` for all time.
    private let days: ClosedRange<CalendarDay>?
    /// The length of the report's parts; `nil` if the report has no parts.
    private let step: EarningsStep?

    /// - Parameters:
    ///   - defaultPeriod: The period if the query names neither a period nor dates.
    ///   - local: The zone if the query names none.
    /// - Throws: A problem: 400 for an invalid period, date, zone or step, and for too many days.
    init(
        _ query: inout QueryParameters,
        now: Timestamp,
        period defaultPeriod: EarningsPeriod = .today,
        in local: (name: String, rules: TimeZoneRules) = ("UTC", .utc)
    ) throws(Problem) {
        self.now = now
        let texts = ["period", "from", "to", "zone", "by"].map { query.text($0) }
        zoneName = texts[3] ?? local.name
        let given = texts[3].map { TimeZoneName($0).flatMap(TimeZoneFiles().rules(of:)) }
        guard let zone = given ?? local.rules else {
            throw .invalid("zone must be the name of a time zone, such as Europe/Berlin.")
        }
        self.zone = zone
        today = zone.day(at: now)
        let range = try Self.range(from: texts[1], to: texts[2])
        let named = texts[0] ?? (range == nil ? defaultPeriod : .custom).rawValue
        guard let period = EarningsPeriod(rawValue: named), (period == .custom) == (range != nil)
        else {
            throw .invalid(
                "period must be today, week, month, all, or custom with the dates from and to."
            )
        }
        self.period = period
        days =
            switch period {
            case .today: today...today
            case .week: today.monday...today
            case .month: today.firstOfMonth...today
            case .all: nil
            case .custom: range
            }
        guard let by = texts[4] else {
            step = nil
            return
        }
        guard let step = EarningsStep(rawValue: by), let days else {
            throw .invalid("by must be hour or day, and not with all.")
        }
        guard step == .day || Self.count(days) <= Self.hourLimit else {
            throw .invalid("By hour a report has \(Self.hourLimit) days at most.")
        }
        self.step = step
    }

    private static func range(
        from: String?,
        to: String?
    ) throws(Problem) -> ClosedRange<CalendarDay>? {
        guard from != nil || to != nil else { return nil }
        guard let from = from.flatMap({ CalendarDay($0) }),
            let to = to.flatMap({ CalendarDay($0) }),
            let first = firstDay, first <= from, from <= to, to.number < 100_000
        else {
            throw .invalid("from and to must be dates such as 2026-11-21, from not after to.")
        }
        guard count(from...to) <= dayLimit else {
            throw .invalid("A report has \(dayLimit) days at most.")
        }
        return from...to
    }

    private static func count(_ days: ClosedRange<CalendarDay>) -> Int64 {
        days.upperBound.number - days.lowerBound.number + 1
    }

    private func span(_ days: ClosedRange<CalendarDay>) -> Range<Timestamp> {
        zone.start(of: days.lowerBound)..<zone.start(of: days.upperBound.advanced(by: 1))
    }

    /// The ledger query: the earnings before today, before this week and before this month, and the
    /// entries of the period.
    var range: EarningsRange {
        EarningsRange(
            marks: [today, today.monday, today.firstOfMonth].map { zone.start(of: $0) },
            counted: days.map(span)
        )
    }

    /// The ledger query that also reads the earnings before yesterday and before last week.
    var comparisonRange: EarningsRange {
        let earlier = [today.advanced(by: -1), today.monday.advanced(by: -7)]
        return EarningsRange(
            marks: range.marks + earlier.map { zone.start(of: $0) },
            counted: range.counted
        )
    }

    /// The ledger query that counts the payments of the period, or of all time.
    var fileRange: EarningsRange {
        let all = Timestamp(milliseconds: 0)..<now.advanced(by: .seconds(86_400))
        return EarningsRange(marks: [], counted: range.counted ?? all)
    }

    /// Returns yesterday's and last week's earnings from the result of `comparisonRange`.
    func before(_ found: AccountEarnings) -> (yesterday: Int64, lastWeek: Int64) {
        let earned = found.earned
        return (earned[0] - earned[3], earned[1] - earned[4])
    }

    /// The period as part of a file name: `2026-11-01-2026-11-21`, or `all`.
    var fileName: String {
        days.map { "\($0.lowerBound)-\($0.upperBound)" } ?? period.rawValue
    }

    /// Returns the report for what the ledger found.
    ///
    /// - Throws: `LedgerError` with `corrupt` for an unknown kind of transfer.
    func reply(_ found: AccountEarnings) throws(LedgerError) -> EarningsReply {
        let earned = found.account.earned
        let since = found.earned.map { WireInteger(earned - $0) }
        var counts = days == nil ? nil : EarningsCounts()
        var parts = days.flatMap { days in step.map { self.parts(of: days, by: $0) } } ?? []
        var index = 0
        for slice in found.slices {
            try counts?.add(slice)
            while index < parts.count - 1, parts[index].endsAt.value <= slice.start { index += 1 }
            if !parts.isEmpty { try parts[index].counts.add(slice) }
        }
        return EarningsReply(
            currency: found.account.currency,
            period: period,
            zone: zoneName,
            from: days?.lowerBound.description,
            to: days?.upperBound.description,
            asOf: now,
            totalCents: WireInteger(counts?.keptCents ?? earned),
            counts: counts,
            todayCents: since[0],
            weekCents: since[1],
            monthCents: since[2],
            allTimeCents: WireInteger(earned),
            parts: step == nil ? nil : parts
        )
    }

    private func parts(of days: ClosedRange<CalendarDay>, by step: EarningsStep) -> [EarningsPart] {
        let span = span(days)
        var starts: [Timestamp] = []
        switch step {
        case .day:
            starts = (days.lowerBound.number...days.upperBound.number).map { number in
                zone.start(of: days.lowerBound.advanced(by: number - days.lowerBound.number))
            }
        case .hour:
            // Parts start at full local hours, also in zones whose offset is no whole hour.
            let hour: Int64 = 3_600_000
            var start = span.lowerBound
            while start < span.upperBound {
                starts.append(start)
                let past = (start.milliseconds + zone.offset(at: start)) % hour
                start = Timestamp(milliseconds: start.milliseconds + hour - past)
            }
        }
        return zip(starts, starts.dropFirst() + [span.upperBound]).map { start, end in
            EarningsPart(
                startsAt: start,
                endsAt: end,
                localTime: zone.text(of: start),
                counts: EarningsCounts()
            )
        }
    }
}

extension EarningsCounts {
    /// Counts the entries of slices.
    init(_ slices: [EarningsSlice]) throws(LedgerError) {
        self.init()
        for slice in slices { try add(slice) }
    }

    /// The number of payments and refunds.
    var total: Int64 { paymentCount + refundCount }

    /// Adds the entries of a slice if they change earnings.
    fileprivate mutating func add(_ slice: EarningsSlice) throws(LedgerError) {
        switch try TransferKind.named(slice.kind).earning(isDebit: slice.isDebit) {
        case .earning:
            paymentCount += slice.count
            takenCents += slice.amount
        case .refund:
            refundCount += slice.count
            refundedCents -= slice.amount
        case nil: break
        }
    }
}

extension EarningsEntry {
    /// - Returns: `nil` for an entry that does not change earnings.
    fileprivate init?(_ entry: Entry, _ record: Record?, _ breakdown: EarningsBreakdown) throws {
        guard let kind = try TransferKind.of(entry).earning(isDebit: entry.isDebit) else {
            return nil
        }
        let session = try record?.session
        self.init(
            id: entry.transfer.id,
            sessionID: session?.id,
            type: kind,
            amountCents: WireInteger(abs(entry.amount)),
            currency: entry.account.currency,
            earnedAt: entry.at,
            payoutStatus: breakdown.status(ofEarningsUpTo: entry.earned),
            memo: session?.memo,
            payeeReference: session?.reference
        )
    }
}
