import BlueZ
import FoundationEssentials
import Glibc
import GotchuAPI
import GotchuCore
import LocalAPI
import Radio
import ServiceProcess

extension DaemonBackend {
    /// Returns all metrics in Prometheus's format. Events are counters: a scrape then misses none.
    func metrics() async -> String {
        var page = MetricsPage()
        await addAir(to: &page)
        await addRequests(to: &page)
        await addPayments(to: &page)
        addSocket(to: &page)
        addProcess(to: &page)
        return page.text
    }

    private func addAir(to page: inout MetricsPage) async {
        let counts = presenceService.counts
        let ours: [MetricsPage.Sample] = [Sighting.Carrier.serviceData, .localName].map {
            (["result": "ours", "reason": $0.rawValue], counts.heard[$0] ?? 0)
        }
        let others: [MetricsPage.Sample] = IgnoredReason.allCases.map {
            (["result": "ignored", "reason": $0.rawValue], counts.ignored[$0] ?? 0)
        }
        page.counter(
            "gotchu_adverts_total",
            "Advertisements heard: ours by where the EID stood, ignored ones by why.",
            ours + others
        )
        page.gauge("gotchu_presences", "EIDs heard now.", presenceService.presenceCount)
        page.counter(
            "gotchu_verdict_changes_total",
            "Presences that appeared or changed, by their new verdict.",
            Verdict.allCases.map { (["verdict": $0.rawValue], counts.verdicts[$0] ?? 0) }
        )
        let radio = core.status.reply.radio
        page.gauge("gotchu_scanning", "1 while the radio listens.", radio.isScanning ? 1 : 0)
        page.gauge(
            "gotchu_scan_wanted",
            "1 while the radio is to listen, as a program needs it or 'listen' is 'always'.",
            radio.listening.isWanted ? 1 : 0
        )
        page.gauge("gotchu_advertisements", "EIDs on the air now.", radio.advertising.count)
        let recovery = core.status.radioState.recovery
        page.counter(
            "gotchu_scan_restarts_total",
            "What was done to get a silent scan back, by the rung of the ladder.",
            RecoveryRung.allCases.map { (["rung": $0.rawValue], recovery.rungs[$0] ?? 0) }
        )
        page.counter(
            "gotchu_bus_reconnects_total",
            "Connections to the bus that were opened anew.",
            recovery.busReconnects
        )
        page.counter(
            "gotchu_bus_late_replies_total",
            "Replies on the bus that came after their call had been given up.",
            BlueZ.lateReplies
        )
    }

    private func addRequests(to page: inout MetricsPage) async {
        let counts = await requestService.counts
        page.counter("gotchu_requests_started_total", "Requests put on the air.", counts.started)
        let outcomes: [RequestView.State] = [.paid, .expired, .cancelled, .unknown]
        page.counter(
            "gotchu_requests_ended_total",
            "Requests by how they ended; an unknown one may still get another end.",
            outcomes.map { (["outcome": $0.rawValue], counts.ended[$0] ?? 0) }
                + [(["outcome": "abandoned"], counts.abandoned)]
        )
        let views = await requestService.views()
        page.gauge(
            "gotchu_requests_open",
            "Requests that have not ended, by state.",
            RequestView.State.allCases.filter { !$0.isFinal }.map { state in
                (["state": state.rawValue], views.count { $0.state == state })
            }
        )
    }

    private func addPayments(to page: inout MetricsPage) async {
        let counts = await paymentService.counts
        page.counter(
            "gotchu_payments_started_total",
            "Payments agreed to.",
            counts.payments.started
        )
        page.counter(
            "gotchu_payments_paid_total",
            "Payments that were made.",
            counts.payments.done
        )
        page.counter(
            "gotchu_payments_declined_total",
            "Payments that were not made, by the code of the refusal.",
            Self.byCode(counts.payments.declined)
        )
        let views = await paymentService.views()
        page.gauge(
            "gotchu_payments_open",
            "Payments whose end is not known, by state.",
            Self.byOpenState(views.filter { $0.kind == nil })
        )
        page.counter("gotchu_refunds_started_total", "Refunds asked for.", counts.refunds.started)
        let refunds = counts.refunds
        page.counter(
            "gotchu_refunds_made_total",
            "Refunds that the payment server confirmed: made now, or before by the same refund.",
            [
                (["made": "now"], refunds.done - refunds.repeated),
                (["made": "before"], refunds.repeated),
            ]
        )
        page.counter(
            "gotchu_refunds_declined_total",
            "Refunds that were not made, by the code of the refusal.",
            Self.byCode(refunds.declined)
        )
        page.gauge(
            "gotchu_refunds_open",
            "Refunds whose end is not known, by state.",
            Self.byOpenState(views.filter { $0.kind == .refund })
        )
        page.histogram(
            "gotchu_tap_latency_seconds",
            "From the first sighting at a near level to the payment's success.",
            counts.tapLatency
        )
    }

    private static func byCode(_ declined: [ErrorCode?: Int]) -> [MetricsPage.Sample] {
        declined.map { (labels: ["code": $0.key?.rawValue ?? "other"], value: $0.value) }
            .sorted { ($0.labels["code"] ?? "") < ($1.labels["code"] ?? "") }
    }

    private static func byOpenState(_ views: [PaymentView]) -> [MetricsPage.Sample] {
        PaymentView.State.allCases.filter { !$0.isFinal }.map { state in
            (["state": state.rawValue], views.count { $0.state == state })
        }
    }

    private func addSocket(to page: inout MetricsPage) {
        let events = core.hub.counts
        page.counter("gotchu_events_total", "Events told to readers.", events.published)
        page.counter(
            "gotchu_events_dropped_total",
            "Events that a reader was too slow for, counted for each reader.",
            events.dropped
        )
        page.counter(
            "gotchu_event_lags_total",
            "Times that a reader was told that it had missed events.",
            events.lags
        )
        page.gauge("gotchu_event_readers", "Readers of events now.", events.readers)
        page.histogram(
            "gotchu_event_lag_seconds",
            "From an event to its line in a reader's socket.",
            events.lag
        )
        let local = traffic.counts
        page.gauge("gotchu_local_connections", "Connections to the socket now.", local.connections)
        page.counter(
            "gotchu_local_refusals_total",
            "Connections that were closed because their user had too many.",
            local.refusals
        )
        page.counter(
            "gotchu_local_requests_total",
            "Replies of the local API, by HTTP status.",
            local.replies.sorted { $0.key < $1.key }.map { (["status": "\($0.key)"], $0.value) }
        )
    }

    private func addProcess(to page: inout MetricsPage) {
        let journal = journal.counts
        page.histogram(
            "gotchu_journal_append_seconds",
            "From a record to its being on the disk.",
            journal.latency
        )
        page.counter(
            "gotchu_journal_failures_total",
            "Records that could not be written.",
            journal.failures
        )
        let status = core.status.reply
        page.gauge(
            "gotchu_ready",
            "1 when requests and payments can be made.",
            status.isReady ? 1 : 0
        )
        page.gauge(
            "gotchu_build_info",
            "Always 1; the version is the label.",
            [(["version": status.version], 1)]
        )
        if let bytes = Self.residentBytes {
            page.gauge("process_resident_memory_bytes", "Memory in use.", bytes)
        }
    }

    /// The resident memory in bytes: the second number of `/proc/self/statm` (proc(5)), which is in
    /// pages.
    private static var residentBytes: Int? {
        guard let data = FileManager.default.contents(atPath: "/proc/self/statm") else {
            return nil
        }
        let fields = String(decoding: data, as: UTF8.self).split(separator: " ")
        return fields.count > 1
            ? Int(fields[1]).map { $0 * Int(sysconf(Int32(_SC_PAGESIZE))) } : nil
    }
}
