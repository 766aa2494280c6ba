import Foundation
import GotchuAPI
import GotchuCore
import TestSupport
import Testing

@Suite("The daemon's metrics")
struct MetricsTests {
    @Test("are read by Prometheus's own parser, and count what happened")
    func story() async throws {
        let shop = try await Shop()
        let (kiosk, payer) = try await shop.pair(payerAt: "0.1,0")
        let request: RequestView = try await kiosk.call(
            "POST",
            "/v1/requests",
            NewRequest(amountCents: 700)
        )
        try await eventually("it is at tap distance") {
            try await payer.verdict(on: request.eid) == .tap ? true : nil
        }
        let payment: PaymentView = try await payer.call(
            "POST",
            "/v1/payments",
            NewPayment(eid: request.eid, confirmAmountCents: 700, proximity: .tap)
        )
        #expect(try await end(of: payment, on: payer).state == .paid)
        try await eventually("the kiosk is told") {
            let view = try await kiosk.get("/v1/requests/\(request.id)", as: RequestView.self)
            return view.state == .paid ? true : nil
        }
        let payers = try await Metrics(of: payer)
        #expect(payers["gotchu_payments_paid_total"] == 1)
        #expect(payers["gotchu_payments_started_total"] == 1)
        #expect(payers["gotchu_tap_latency_seconds_count"] == 1)
        #expect(payers["gotchu_tap_latency_seconds_bucket", ["le": "+Inf"]] == 1)
        #expect(payers["gotchu_journal_append_seconds_count"] == 3)
        #expect(try #require(payers["gotchu_verdict_changes_total", ["verdict": "tap"]]) >= 1)
        let heard = ["result": "ours", "reason": "service_data"]
        #expect(try #require(payers["gotchu_adverts_total", heard]) >= 3)
        #expect(try #require(payers["gotchu_local_requests_total", ["status": "202"]]) == 1)
        #expect(try #require(payers["process_resident_memory_bytes"]) > 1_000_000)
        let kiosks = try await Metrics(of: kiosk)
        #expect(kiosks["gotchu_requests_started_total"] == 1)
        #expect(kiosks["gotchu_requests_ended_total", ["outcome": "paid"]] == 1)
        #expect(kiosks["gotchu_ready"] == 1)
        for loss in [
            "gotchu_bus_late_replies_total", "gotchu_bus_signals_dropped_total",
            "gotchu_event_lags_total", "gotchu_refunds_started_total",
        ] {
            #expect(kiosks[loss] == 0, "\(loss)")
        }
        for metrics in [payers, kiosks] { metrics.expectConventions() }
    }
}
