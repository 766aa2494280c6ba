import Foundation
import Postgres
import PostgresTestSupport
import TestSupport
import Testing

@Suite("Metrics")
struct MetricsTests {
    private let server: ServerProcess
    private var wire: Wire { server.wire }

    init() async throws {
        server = try await ServerProcess(more: ["--log-level", "debug"])
    }

    private struct Sample: Decodable {
        let name: String
        let type: String
        let labels: [String: String]
        let value: Double
    }

    /// Returns the metrics page, parsed by Prometheus's Python library.
    private func read(_ wire: Wire) async throws -> [Sample] {
        let folder = try TemporaryFolder()
        let page = try folder.write(try await wire.get("/metrics").text, to: "metrics")
        let parsed = try await Python.run("metrics.py", [page])
        #expect(try await parsed.exitCode() == 0, "\(parsed.text)")
        return try JSONDecoder().decode([Sample].self, from: Data(parsed.text.utf8))
    }

    @Test("The metrics in Prometheus's format count payments, repeats, refusals and requests")
    func story() async throws {
        let payee = try await wire.login("payee")
        let payer = try await wire.login("payer")
        let sid = try await wire.lockedSession(payee, payer, cents: 5)
        for _ in 0..<3 { _ = try await wire.send(sid, by: payer, key: "0123456789abcdef") }
        let expensive = try await wire.lockedSession(payee, payer, cents: 1_000_000)
        _ = try await wire.send(expensive, by: payer, key: "0123456789abcdef-2")
        _ = try await wire.send(expensive, by: payer, key: "0123456789abcdef")
        _ = try await wire.lock(sid, by: payee)
        for _ in 0..<2 {
            let refund = "/sessions/\(expensive)/refund"
            _ = try await wire.post(refund, token: payee, key: "0123456789abcdef")
        }
        _ = try await wire.post("/sessions/resolve", #"{"eid":"0000000000"}"#)
        _ = try await wire.get("/no/such/address")
        var events = try await EventStream(wire, expensive, token: payee)
        #expect(try await events.next() != nil)

        let samples = try await read(wire)
        func value(_ name: String, _ labels: [String: String] = [:]) -> Double? {
            samples.first { $0.name == "gotchu_server_\(name)" && $0.labels == labels }?.value
        }
        #expect(value("payments_total") == 1 && value("replays_total") == 2)
        // The label `code` is the code in the payer's reply.
        let tooExpensive = [
            "code": "INSUFFICIENT_WALLET_BALANCE", "reason": "INSUFFICIENT_BALANCE",
        ]
        #expect(value("declines_total", tooExpensive) == 1)
        let own = ["code": "OWN_SESSION", "reason": "OWN_SESSION"]
        #expect(value("refusals_total", own) == 1)
        let reused = ["code": "IDEMPOTENCY_KEY_REUSED", "reason": "KEY_REUSED"]
        #expect(value("declines_total", reused) == 1 && value("refusals_total", reused) == 0)
        // A refused refund is counted too; its repeat is not counted.
        let unpaid = ["code": "SESSION_NOT_PAID", "reason": "SESSION_NOT_PAID"]
        #expect(value("refusals_total", unpaid) == 1)
        #expect(value("resolve_misses_total") == 1)
        #expect(value("unknown_outcomes_total") == 0 && value("queue_commands") == 0)
        #expect(value("open_sessions") == 1 && value("event_streams") == 1)
        #expect(value("webhooks_waiting") == 0 && value("webhooks_dead") == 0)
        let batches = samples.filter { $0.name == "gotchu_server_batches_total" }
        #expect(batches.map(\.labels) == ["1", "4", "16", "64", "256"].map { ["commands": $0] })
        #expect(value("commit_seconds_count") == batches.map(\.value).reduce(0, +))
        let sends = ["route": "/wallet/send", "status": "200"]
        #expect(value("http_requests_total", sends) == 3)
        #expect(value("http_requests_total", ["route": "NotFound", "status": "404"]) == 1)
        for sample in samples {
            #expect(sample.type != "unknown", "\(sample.name) has no type")
            #expect((sample.type == "counter") == sample.name.hasSuffix("_total"))
        }
        let series = samples.map { "\($0.name) \($0.labels.sorted { $0.key < $1.key })" }
        #expect(Set(series).count == series.count, "a series appears twice")
        // No label contains the text of an unknown address.
        #expect(!samples.contains { $0.labels.values.contains { $0.contains("such") } })
    }

    @Test("The metrics of two servers count the sessions and deliveries of their shared database")
    func shared() async throws {
        let cluster = try PostgresCluster.shared()
        let name = try cluster.makeDatabase()
        let fleet = try await Fleet(2, database: cluster.url(name))
        let payee = try await fleet.wire(0).login("payee")
        let payer = try await fleet.wire(1).login("payer")
        _ = try await fleet.wire(0).lockedSession(payee, payer, cents: 5)
        _ = try await fleet.wire(0).create(payee, cents: 6)
        let link = try cluster.connect(name)
        // One delivery waits for its next attempt, and two deliveries are dead.
        try link.connection.execute(
            """
            INSERT INTO endpoints VALUES ('e', 'https://x.example', NULL, 1, 'x', NULL);
            INSERT INTO deliveries SELECT 'e', 'event-' || n, 'x', id, owner, 1, NULL, '{}', 1,
                9e15, 9e15, CASE WHEN n > 1 THEN 2 END, NULL
            FROM generate_series(1, 3) AS numbers (n), (SELECT * FROM records LIMIT 1) AS one
            """
        )
        for number in 0..<2 {
            let samples = try await read(fleet.wire(number))
            func value(_ name: String) -> Double? {
                samples.first { $0.name == "gotchu_server_\(name)" }?.value
            }
            #expect(value("open_sessions") == 2)
            #expect(value("webhooks_waiting") == 1 && value("webhooks_dead") == 2)
        }
        #expect(try await fleet.stop() == [0, 0])
    }

    @Test("The id of a request is the same in the reply's header, its problem and the log")
    func requestID() async throws {
        let reply = try await wire.call(
            "POST",
            "/wallet/send",
            "{}",
            headers: ["X-Request-ID": "till-7.4711"]
        )
        #expect(reply.status == 401)
        #expect(reply.headers["x-request-id"] == "till-7.4711")
        #expect(reply.string("request_id") == "till-7.4711")
        try await eventually("the log contains the request's id") {
            server.program.text.split(separator: "\n").contains {
                $0.contains("till-7.4711") && $0.contains("401")
            } ? true : nil
        }
        let own = try await wire.call("GET", "/healthz", headers: ["X-Request-ID": "a\"b"])
        #expect(own.headers["x-request-id"]?.contains("\"") == false)
    }

    @Test(
        "Rate limits are reported, apply to hits too, and are separate for clients behind a proxy"
    )
    func limits() async throws {
        let proxied = try await ServerProcess(more: ["--trusted-proxy", "127.0.0.1"])
        func guess(
            _ client: String,
            _ server: ServerProcess,
            _ eid: String = "0000000000"
        ) async throws -> WireReply {
            try await server.wire.call(
                "POST",
                "/sessions/resolve",
                #"{"eid":"\#(eid)"}"#,
                headers: ["X-Forwarded-For": "10.9.9.9, \(client)"]
            )
        }
        var last = try await guess("192.0.2.1", proxied)
        #expect(last.headers["ratelimit-policy"] == #""resolves";q=400;w=2"#)
        #expect(last.headers["ratelimit"]?.hasPrefix(#""resolves";r=39"#) == true)
        for _ in 0..<30 where last.status == 404 { last = try await guess("192.0.2.1", proxied) }
        #expect(last.code == "RATE_LIMITED" && last.headers["retry-after"] != nil)
        #expect(try await guess("192.0.2.2", proxied).status == 404)
        #expect(try await guess("2001:db8::1", proxied).status == 404)
        // A server without a trusted proxy ignores the header: all requests count for one client.
        let payee = try await wire.login("payee")
        let eid = try await wire.create(payee, cents: 5).string("eid")
        for number in 0..<30 { last = try await guess("192.0.2.\(number)", server) }
        #expect(last.code == "RATE_LIMITED")
        // A limited client cannot distinguish a hit from a miss.
        #expect(try await guess("192.0.2.1", server, eid).code == "RATE_LIMITED")
        // A logged-in user has a limit separate from the address.
        let payer = try await wire.login("payer")
        let own = try await wire.post("/sessions/resolve", #"{"eid":"0000000000"}"#, token: payer)
        #expect(own.status == 404)
    }
}
