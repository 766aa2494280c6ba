internal import GotchuAPI
internal import GotchuCore
internal import Hummingbird
internal import Ledger
internal import LedgerStore
internal import Payments
internal import ServiceProcess

/// `GET /metrics` in Prometheus's text format.
///
/// A shop's sales are private, so by default only this machine may read the metrics.
struct MetricsRoute: Sendable {
    let ledger: Ledger
    let requests: RequestMetrics
    let misses: MissLimiter
    let store: StoreMetricsCache
    let readiness: Readiness
    /// The metrics of deposits and payouts; `nil` without a provider.
    let funding: FundingMetrics?
    /// The metrics of contests; `nil` without contests.
    let contests: ContestMetrics?
    let isOpen: Bool

    @Sendable func page(_ request: Request, _ context: ServerContext) async throws -> Response {
        guard isOpen || request.isLocal(context) else {
            throw Problem(
                .forbidden,
                detail: "The metrics are for this machine only.",
                fix: "Start the server with --open-metrics, and keep strangers from the address."
            )
        }
        var page = MetricsPage()
        addLedger(&page)
        addRequests(&page)
        page.gauge("gotchu_server_event_streams", "SSE readers now.", ledger.feed.watcherCount)
        let reading = await store.reading
        funding?.add(to: &page)
        await contests?.add(to: &page)
        if let reading { addStore(reading, to: &page) }
        page.gauge(
            "gotchu_server_clock_ahead_milliseconds",
            "The lead of this machine's clock over the database's, which counts.",
            Int(ledger.now.duration(to: .now).wholeMilliseconds)
        )
        page.gauge(
            "gotchu_server_draining",
            "1 once a stop was requested.",
            readiness.isDraining ? 1 : 0
        )
        return Response(
            status: .ok,
            headers: [
                .contentType: "text/plain; version=0.0.4; charset=utf-8",
                .cacheControl: "no-store",
            ],
            body: ResponseBody(byteBuffer: ByteBuffer(string: page.text))
        )
    }

    private func addStore(_ reading: StoreReading, to page: inout MetricsPage) {
        page.gauge(
            "gotchu_server_open_sessions",
            "Sessions that can still be paid.",
            reading.liveRecords
        )
        page.gauge(
            "gotchu_server_webhooks_waiting",
            "Webhook deliveries that will be tried again.",
            reading.waitingWebhooks
        )
        page.gauge(
            "gotchu_server_webhooks_dead",
            "Webhook deliveries that were given up.",
            reading.deadWebhooks
        )
        guard funding != nil else { return }
        let wait = reading.oldestDue.map { max(.zero, $0.duration(to: ledger.now)) } ?? .zero
        page.gauge(
            "gotchu_server_funding_oldest_seconds",
            "The time for which the longest due deposit or withdrawal waits for a refresh.",
            Int(wait.wholeMilliseconds / 1_000)
        )
        page.gauge(
            "gotchu_server_owed_cents",
            "The sum of what users owe: refunds and disputes of money that they had spent.",
            Int(reading.owed)
        )
    }

    private func addLedger(_ page: inout MetricsPage) {
        let reading = ledger.metrics.reading
        page.gauge(
            "gotchu_server_queue_commands",
            "Commands that wait for the next commit.",
            ledger.waitingCount
        )
        page.histogram(
            "gotchu_server_commit_seconds",
            "The time from taking a batch to its durable end.",
            reading.commitDuration
        )
        page.counter(
            "gotchu_server_batches_total",
            "Committed batches, by their largest number of commands.",
            zip(LedgerMetrics.batchSizes, reading.batches).map { (["commands": "\($0)"], $1) }
        )
        page.counter(
            "gotchu_server_commands_total",
            "Commands that were decided.",
            reading.commands
        )
        page.counter(
            "gotchu_server_payments_total",
            "Payments that were made.",
            reading.accepted[Pay.name] ?? 0
        )
        page.counter(
            "gotchu_server_replays_total",
            "Payments that were answered with a stored reply.",
            reading.replayed[Pay.name] ?? 0
        )
        page.counter(
            "gotchu_server_declines_total",
            "Declined payments, by the answer's code and the reason in the ledger.",
            Self.byReason(reading.refused[Pay.name] ?? [:])
        )
        page.counter(
            "gotchu_server_refusals_total",
            "Other refused commands, by the reason in the ledger.",
            Self.byReason(reading.otherRefusals)
        )
        page.counter(
            "gotchu_server_unknown_outcomes_total",
            "Commands whose commit failed: their callers were told to try again.",
            reading.failedCommands
        )
        page.counter(
            "gotchu_server_turned_away_total",
            "Commands refused because the queue was full.",
            reading.queueFullCommands
        )
    }

    private static func byReason(_ counts: [Refusal.Reason: Int]) -> [MetricsPage.Sample] {
        Refusal.Reason.allCases.map { reason in
            (["code": reason.code.rawValue, "reason": reason.rawValue], counts[reason] ?? 0)
        }
    }

    private func addRequests(_ page: inout MetricsPage) {
        let answered = requests.replyCounts.sorted {
            ($0.key.route, $0.key.status) < ($1.key.route, $1.key.status)
        }
        page.counter(
            "gotchu_server_http_requests_total",
            "Requests that were answered, by address and status.",
            answered.map { (["route": $0.key.route, "status": "\($0.key.status)"], $0.value) }
        )
        page.histogram(
            "gotchu_server_http_request_seconds",
            "The time of a request from its head to its answer, by address.",
            requests.durations.sorted { $0.key < $1.key }.map { (["route": $0.key], $0.value) }
        )
        let counts = misses.counts
        page.counter(
            "gotchu_server_resolve_misses_total",
            "Look-ups of unknown EIDs.",
            counts.misses
        )
        page.counter(
            "gotchu_server_resolve_slowed_total",
            "Look-ups refused because of earlier misses.",
            counts.refusals
        )
    }
}

extension LedgerMetrics.Reading {
    /// The number of refusals by reason, for all commands other than payments.
    fileprivate var otherRefusals: [Refusal.Reason: Int] {
        refused.filter { $0.key != Pay.name }.values.reduce(into: [:]) { sum, counts in
            sum.merge(counts) { $0 + $1 }
        }
    }
}
