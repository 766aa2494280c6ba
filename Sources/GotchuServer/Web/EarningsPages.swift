internal import GotchuAPI
internal import GotchuCore
internal import HTTPTypes
internal import Hummingbird
internal import Ledger
internal import NIOCore
internal import Pages
internal import Payments

/// The pages of a payee's earnings: sums, a chart, and the payments behind them. The sums and the
/// chart come from one read of the ledger. The pages compute no sums of payments.
struct EarningsPages: Sendable {
    private static let currency = Currency.usd
    private static let pageLimit = 25
    /// The maximum number of payments in one file.
    static let fileLimit = 20_000
    /// The number of payments that are read at once for a file.
    private static let filePage = 200

    let ledger: Ledger
    let funding: FundingOperations
    let heavyReads: HeavyReads

    /// The selection of payments in a page's URL.
    private struct Filter {
        let zone: WebZone
        let earningsQuery: EarningsQuery
        /// The entry number before which the page begins; `nil` for the newest payments.
        let before: Int64?
        /// The query of this selection for links. It does not contain `before`.
        let query: String

        init(_ visit: WebVisit) throws {
            var parameters = try QueryParameters(
                page: visit.request,
                "from",
                "to",
                "period",
                "zone",
                "before"
            )
            let (from, to) = (parameters.text("from"), parameters.text("to"))
            let isCustom = from != nil || to != nil
            let named = parameters.text("period") ?? (isCustom ? "custom" : "month")
            let zoneText = parameters.text("zone")
            zone = try WebZone(zoneText, now: visit.now)
            before = try parameters.integer("before", in: 1...Int64.max - 1)
            var values = ["period": named]
            values["from"] = from
            values["to"] = to
            var query = isCustom ? "from=\(from ?? "")&to=\(to ?? "")" : "period=\(named)"
            if zoneText != nil { query += "&zone=\(WebPath.escaped(zone.name))" }
            self.query = query
            if named == "today" || isCustom && from == to {
                values["by"] = "hour"
            } else if named != "all" {
                values["by"] = "day"
            }
            var known = QueryParameters(values)
            earningsQuery = try EarningsQuery(
                &known,
                now: visit.now,
                in: (zone.name, zone.rules)
            )
        }
    }

    private func list(_ visit: WebVisit) -> PaymentList {
        PaymentList(ledger: ledger, account: Account.Key(.user(visit.user), Self.currency))
    }

    private func earnings(
        _ visit: WebVisit,
        _ range: EarningsRange
    ) async throws -> AccountEarnings {
        let key = Account.Key(.user(visit.user), Self.currency)
        let found = try await heavyReads.run {
            try await ledger.earnings(of: key, range)
        }
        guard let found else { throw Problem(.notFound, detail: "You have no wallet here.") }
        return found
    }

    @Sendable func show(_ visit: WebVisit) async throws -> Response {
        let filter: Filter
        do {
            filter = try Filter(visit)
        } catch let problem as Problem where problem.status == 400 {
            return invalidFilterPage(problem, visit)
        }
        let found = try await earnings(visit, filter.earningsQuery.comparisonRange)
        let reply = try filter.earningsQuery.reply(found)
        let page = try await list(visit).page(
            of: found.numbers,
            before: filter.before,
            limit: Self.pageLimit
        )
        return WebPage(
            title: "Earnings",
            section: .earnings,
            asOf: filter.before == nil
                ? filter.zone.time(reply.asOf.value, hasFullDate: true) : nil,
            controls: controls(reply, filter),
            content: """
                \(cards(reply, filter.earningsQuery.before(found)))
                \(chartPanel(reply, filter))
                \(try await payoutPanel(found.account, visit))
                \(listPanel(page, filter))
                \(customPanel(reply.from, reply.to, filter.zone.name))
                """
        )
        .response(for: visit)
    }

    /// Returns the page for an invalid period, date or zone. It has no sums, and its form contains
    /// the typed values.
    private func invalidFilterPage(_ problem: Problem, _ visit: WebVisit) -> Response {
        func typed(_ name: String) -> String? {
            visit.request.uri.queryParameters[Substring(name)].map { String($0.prefix(64)) }
        }
        return WebPage(
            title: "Earnings",
            section: .earnings,
            banner: WebPage.Banner(problem.detail, isBad: true),
            content: """
                \(customPanel(typed("from"), typed("to"), typed("zone") ?? visit.zone.name))
                <p class="quiet">Code <code>\(problem.code)</code> · request \
                <code>\(visit.context.requestID)</code></p>
                """
        )
        .response(for: visit, status: .init(code: problem.status))
    }

    // MARK: Sums and the chart

    private func money(_ cents: WireInteger) -> String {
        Money(minorUnits: cents.value, currency: Self.currency).shown
    }

    private func controls(_ reply: EarningsReply, _ filter: Filter) -> HTML {
        let zone = filter.query.split(separator: "&").first { $0.hasPrefix("zone=") }
        let names: [(EarningsPeriod, String)] = [
            (.today, "Today"), (.week, "This week"), (.month, "This month"), (.all, "All time"),
        ]
        let periods = names.map { period, name in
            (
                name,
                "\(WebPath.earnings)?period=\(period.rawValue)\(zone.map { "&\($0)" } ?? "")",
                period == reply.period
            )
        }
        let isCustom = reply.period == .custom
        let days = [reply.from, reply.to].compactMap { $0.flatMap { CalendarDay($0) } }
        let dates =
            isCustom
            ? Set(days).sorted().map(filter.zone.fullDate).joined(separator: " – ") : "Dates …"
        return """
            \(HTML.choice("Period", periods + [(dates, "#custom", isCustom)]))
            <a class="plain" href="\(WebPath.earningsFile)?\(filter.query)">Save CSV</a>
            """
    }

    private func cards(
        _ reply: EarningsReply,
        _ before: (yesterday: Int64, lastWeek: Int64)
    ) -> HTML {
        func card(_ title: String, _ sum: WireInteger, _ other: String, _ cents: WireInteger)
            -> HTML
        {
            """
            <div><h2>\(title)</h2><p>\(money(sum))</p><small>\(other) \(money(cents))</small></div>

            """
        }
        return """
            <section class="cards" aria-label="Totals">
            \(card("Today", reply.todayCents, "yesterday", WireInteger(before.yesterday)))\
            \(card("This week", reply.weekCents, "last week", WireInteger(before.lastWeek)))\
            \(card("All time", reply.allTimeCents, "this month", reply.monthCents))\
            </section>
            """
    }

    /// Returns the panel of pending, processing and paid amounts; `nil` if payouts are not offered.
    private func payoutPanel(_ account: Account, _ visit: WebVisit) async throws -> HTML? {
        guard funding.isOpen(to: visit.user) else { return nil }
        let breakdown = try await funding.earningsBreakdown(of: account, user: visit.user)
        let rows = [
            ("Pending: in the wallet", breakdown.pending),
            ("Processing: on its way to the bank", breakdown.processing),
            ("Paid to the bank, or spent", breakdown.paid),
        ].map { "<dt>\($0.0)</dt><dd>\(money(WireInteger($0.1)))</dd>" as HTML }
        return """
            <section class="panel" id="payouts"><h2>Of all earnings \
            <small><a href="\(WebPath.payouts)">Payouts</a></small></h2><dl>\(rows)</dl></section>
            """
    }

    private func chartPanel(_ reply: EarningsReply, _ filter: Filter) -> HTML? {
        guard let parts = reply.parts, let counts = reply.counts else { return nil }
        let isByHour = reply.from == reply.to
        let bars = parts.enumerated().map { index, part in
            bar(part, at: index, of: parts.count, isByHour: isByHour, reply, filter.zone)
        }
        let chart = EarningsChart(bars: bars, currency: Self.currency)
        // Without payments and refunds there is no chart.
        let isEmpty = counts.paymentCount + counts.refundCount == 0
        let title =
            switch reply.period {
            case .today: "Today by hour"
            case .week: "This week by day"
            case .month: "This month by day"
            case .custom, .all: isByHour ? "By hour" : "By day"
            }
        let refunds =
            counts.refundCount == 0
            ? ""
            : ", \(Self.count(counts.refundCount, "refund")) of "
                + Money(minorUnits: counts.refundedCents, currency: Self.currency).description
        return """
            <section class="panel" aria-labelledby="chart-title"><h2 id="chart-title">\(title) \
            <small>\(money(reply.totalCents)) · \(Self.count(counts.paymentCount, "payment"))\
            \(refunds)</small></h2>
            \(isEmpty ? nil : "\(chart.picture)\(chart.table)")</section>
            """
    }

    private func bar(
        _ part: EarningsPart,
        at index: Int,
        of count: Int,
        isByHour: Bool,
        _ reply: EarningsReply,
        _ zone: WebZone
    ) -> EarningsChart.Bar {
        let clock = String(part.localTime.dropFirst(11).prefix(5))
        let date = CalendarDay(String(part.localTime.prefix(10))).map(zone.date) ?? part.localTime
        let number = part.localTime.dropFirst(8).prefix(2)
        let tick: String? =
            if isByHour {
                index % 3 == 0 ? clock : nil
            } else if count <= 7 {
                date
            } else if count <= 31 {
                number.hasPrefix("0") ? String(number.suffix(1)) : String(number)
            } else {
                number == "01" ? String(part.localTime.prefix(7)) : nil
            }
        return EarningsChart.Bar(
            tick: tick,
            isKeyTick: index % (isByHour ? 6 : count <= 7 ? 2 : 7) == 0,
            name: isByHour ? clock : date,
            amount: part.counts.keptCents,
            isNow: part.startsAt.value <= reply.asOf.value && reply.asOf.value < part.endsAt.value
        )
    }

    private static func count(_ number: Int64, _ name: String) -> String {
        number == 1 ? "1 \(name)" : "\(number) \(name)s"
    }

    private func customPanel(_ from: String?, _ to: String?, _ zone: String) -> HTML {
        """
        <section class="panel" id="custom"><h2>Dates and time zone</h2>
        <form method="get" action="\(WebPath.earnings)" class="line">
        <label>From<input type="date" name="from" value="\(from ?? "")" required></label>
        <label>To<input type="date" name="to" value="\(to ?? "")" required></label>
        <label>Time zone\
        <input name="zone" value="\(zone)" required maxlength="64"></label>
        <button class="plain">Show</button></form>
        <p class="quiet">At most 400 days. Dates and times are of this zone.</p></section>
        """
    }

    // MARK: The list

    private func listPanel(_ page: PaymentList.Page, _ filter: Filter) -> HTML {
        let more = page.next.map {
            HTML.more("\(WebPath.earnings)?\(filter.query)&before=\($0)#list", "Older payments")
        }
        guard !page.lines.isEmpty else {
            return """
                <section class="panel" id="list"><h2>Payments</h2><div class="empty"><b>Nothing \
                here</b>Payments appear here the moment they are made.</div>\(more)</section>
                """
        }
        let columns = [
            ("When", ""), ("For what", "what"), ("Earnings", "n"), ("State", ""), ("Do", "do"),
        ]
        return """
            <section class="panel" id="list" aria-labelledby="list-title">\
            <h2 id="list-title">Payments</h2>
            \(HTML.list(columns, page.lines.map { row($0, filter.zone) }))\(more)</section>
            """
    }

    private func row(_ line: PaymentList.Line, _ zone: WebZone) -> HTML {
        let amount = Money(minorUnits: line.entry.amount, currency: Self.currency)
        let what = line.session?.memo ?? line.session?.reference ?? "–"
        let chip = line.isRefund ? HTML.chip("↩", "Refund", "back") : line.session?.chip
        let open = line.session.map { session -> HTML in
            """
            <a class="plain" href="\(WebPath.payment(session.id))">Open\
            <span class="visually-hidden"> the payment of \(amount)</span></a>
            """
        }
        return """
            <tr><td>\(zone.time(line.entry.at))</td><td class="what"><bdi>\(what)</bdi></td>\
            <td class="n">\(amount)</td><td>\(chip)</td><td class="do">\(open)</td></tr>

            """
    }

    // MARK: The file

    /// Sends the payments of a period as a CSV file (RFC 4180), with amounts in minor and in major
    /// units. It is read and sent page by page.
    @Sendable func file(_ visit: WebVisit) async throws -> Response {
        let filter = try Filter(visit)
        let place = try heavyReads.beginFile(for: visit.user)
        let found = try await earnings(visit, filter.earningsQuery.fileRange)
        guard try EarningsCounts(found.slices).total <= Self.fileLimit else {
            throw Problem.invalid(
                "A file has \(Self.fileLimit) payments at most: choose a shorter time."
            )
        }
        let stream = FileStream(
            in: place,
            beginning: CSV.header(Self.titles),
            pages: pages(of: found.numbers, visit, filter.zone)
        )
        var headers = PagePolicy.web.fields
        headers[.contentType] = "text/csv; charset=utf-8"
        let name = "gotchu-earnings-\(filter.earningsQuery.fileName).csv"
        headers[.contentDisposition] = "attachment; filename=\"\(name)\""
        return Response(
            status: .ok,
            headers: headers,
            body: ResponseBody { ($0 as? ReplyBody)?.stream = stream }
        )
    }

    /// Returns the reader of a file's pages. It takes the entry number before which the page
    /// begins, `nil` for the first page.
    private func pages(
        of numbers: Range<Int64>,
        _ visit: WebVisit,
        _ zone: WebZone
    ) -> FileStream.Read {
        let list = list(visit)
        return { before in
            let page = try await list.page(of: numbers, before: before, limit: Self.filePage)
            let rows = page.lines.map { CSV.row(Self.fields($0, zone)) }
            return (rows.joined(), page.next)
        }
    }

    private static let titles = [
        "at", "local_time", "kind", "session_id", "currency", "amount_cents", "amount", "tip_cents",
        "memo", "payee_reference",
    ]

    private static func fields(_ line: PaymentList.Line, _ zone: WebZone) -> [String] {
        let money = Money(minorUnits: line.entry.amount, currency: line.entry.account.currency)
        return [
            line.entry.at.iso8601, zone.text(of: line.entry.at),
            line.isRefund ? "refund" : "payment", line.session?.id.rawValue ?? "",
            money.currency.rawValue, "\(money.minorUnits)", money.decimalText,
            line.session?.tip(in: line.entry).map { "\($0)" } ?? "",
            line.session?.memo ?? "", line.session?.reference ?? "",
        ]
    }
}
