import Foundation
import GotchuAPI
import GotchuCore
import TestSupport
import Testing

@Suite("The daemon's metrics")
struct MetricsTests {
    @Test("Prometheus's own parser reads the metrics of kiosk and payer, and they count a sale")
    func story() async throws {
        let shop = try await Shop()
        let (kiosk, payer) = try await shop.pair(payerAt: "0.1,0")
        let request: RequestView = try await kiosk.call(
            "POST",
            "/v1/requests",
            NewRequest(amountCents: 700)
        )
        try await eventually("the payer hears the request at tap distance") {
            try await payer.verdict(on: request.eid) == .tap ? true : nil
        }
        let payment: PaymentView = try await payer.call(
            "POST",
            "/v1/payments",
            NewPayment(eid: request.eid, confirmAmountCents: 700, proximity: .tap)
        )
        #expect(try await end(of: payment, on: payer).state == .paid)
        try await eventually("the kiosk learns of the payment") {
            let view = try await kiosk.get("/v1/requests/\(request.id)", as: RequestView.self)
            return view.state == .paid ? true : nil
        }
        let payers = try await Metrics(of: payer)
        #expect(payers["gotchu_payments_paid_total"] == 1)
        #expect(payers["gotchu_payments_started_total"] == 1)
        #expect(payers["gotchu_tap_latency_seconds_count"] == 1)
        #expect(payers["gotchu_tap_latency_seconds_bucket", ["le": "+Inf"]] == 1)
        #expect(payers["gotchu_journal_append_seconds_count"] == 4)
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
            "gotchu_bus_late_replies_total", "gotchu_event_lags_total",
            "gotchu_refunds_started_total",
        ] {
            #expect(kiosks[loss] == 0, "\(loss)")
        }
        for metrics in [payers, kiosks] { metrics.expectConventions() }
    }

    /// The URL of a daemon's metrics, from the daemon's log.
    private func url(of device: Device) async throws -> String {
        try await eventually("metrics are served; it said: \(try device.log())") {
            try device.log().firstMatch(of: /Metrics are served url=(\S+)/).map { String($0.1) }
        }
    }

    @Test("The loopback port serves only metrics, and refuses other hosts, origins and methods")
    func loopback() async throws {
        let shop = try await Shop()
        let kiosk = Device(name: "kiosk", shop: shop)
        try await kiosk.start(extra: ["--metrics", "127.0.0.1:0"])
        let url = try await url(of: kiosk)
        let metrics = try await Metrics([url])
        #expect(metrics["gotchu_requests_started_total"] == 0)
        metrics.expectConventions()
        let port = try #require(url.firstMatch(of: /:(\d+)\//)).1
        func status(_ arguments: String...) async throws -> String {
            let curl = try Program(
                "/usr/bin/curl",
                ["-s", "-o", "/dev/null", "-w", "%{http_code}"] + arguments
            )
            try await curl.exitCode()
            return curl.text
        }
        #expect(try await status("http://localhost:\(port)/metrics") == "200")
        #expect(try await status(url, "-H", "Host: [::1]") == "200")
        #expect(try await status("--head", url) == "200")
        for host in ["evil.example", "127.0.0.1.evil.example", "localhost.", ""] {
            #expect(try await status(url, "-H", "Host: \(host)") == "403", "\(host)")
        }
        #expect(try await status(url, "-H", "Origin: http://localhost") == "403")
        #expect(try await status("http://127.0.0.1:\(port)/v1/status") == "404")
        #expect(try await status("-X", "POST", url) == "405")
        // The port closes a connection whose body arrives too slowly.
        let head =
            "GET /metrics HTTP/1.1\\r\\nHost: localhost\\r\\nContent-Length: 9999\\r\\n\\r\\n"
        let dripping = try Program(
            "/bin/bash",
            [
                "-c",
                """
                exec 3<>/dev/tcp/127.0.0.1/\(port)
                printf '\(head)' >&3
                while printf x >&3; do sleep 0.2; done
                """,
            ]
        )
        try await dripping.exitCode()
    }

    @Test("A daemon waits for a metrics port that is in use, and makes requests meanwhile")
    func taken() async throws {
        let shop = try await Shop()
        let other = try OddServer()
        let kiosk = Device(name: "kiosk", shop: shop)
        try await kiosk.start(extra: ["--metrics", "127.0.0.1:\(other.port)"])
        try await eventually("the log says that metrics cannot be served") {
            try kiosk.log().contains("Metrics cannot be served") ? true : nil
        }
        func isReported() async throws -> Bool {
            let status = try await kiosk.get("/v1/status", as: StatusReply.self)
            return status.health.contains { $0.code == "port-unavailable" }
        }
        try await eventually("the status reports the port") {
            try await isReported() ? true : nil
        }
        try await kiosk.logIn()
        let request: RequestView = try await kiosk.call(
            "POST",
            "/v1/requests",
            NewRequest(amountCents: 700)
        )
        #expect(request.state == .advertising)
        other.stop()
        let metrics = try await Metrics([try await url(of: kiosk)])
        #expect(try await !isReported())
        #expect(metrics["gotchu_requests_open", ["state": "advertising"]] == 1)
    }
}
