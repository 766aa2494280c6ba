import Foundation
import GotchuAPI
import GotchuCore
import TestSupport
import Testing

/// The health in a daemon's status while servers and clocks are faulty.
@Suite("The reported health of a daemon")
struct HealthTests {
    private func answer(_ head: String, _ body: String) -> [UInt8] {
        Array("\(head)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)".utf8)
    }

    /// Waits for an item of the daemon's health.
    private func waitForHealthItem(_ code: String, of device: Device) async throws {
        try await eventually("the status of \(device.name) has the item \(code)") {
            let status = try await device.get("/v1/status", as: StatusReply.self)
            return status.health.contains { $0.code == code } && !status.isReady ? true : nil
        }
    }

    @Test("The status names each fault of a server that does not work")
    func wrongServers() async throws {
        let shop = try await Shop()
        let odd = try OddServer()
        defer { odd.stop() }
        let html = "<html>Log in to this network</html>"
        let problem = #"{"code":"TRY_AGAIN","detail":"The books cannot be written just now."}"#
        odd.answer(answer("HTTP/1.1 200 OK", html))
        let kiosk = Device(name: "kiosk", shop: shop)
        try await kiosk.start(extra: ["--server", "http://127.0.0.1:\(odd.port)"])
        try await waitForHealthItem("server-foreign", of: kiosk)
        for (reply, code) in [
            (answer("HTTP/1.1 503 Service Unavailable", html), "server-failing"),
            (answer("HTTP/1.1 404 Not Found", "no"), "server-foreign"),
            (answer("HTTP/1.1 503 Service Unavailable", problem), "server-not-ready"),
            (answer("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:9/", ""), "server-foreign"),
            // This fault separates two faults with the same code.
            (answer("HTTP/1.1 502 Bad Gateway", html), "server-failing"),
            (Array("HTTP/1.0 200 OK\r\n\r\nhello".utf8), "server-foreign"),
        ] {
            odd.answer(reply)
            try await waitForHealthItem(code, of: kiosk)
        }
        // This server says that it is ready, but all its other answers are invalid. The daemon
        // reports that after three calls.
        odd.answer(answer("HTTP/1.1 200 OK", #"{"status":"ready"}"#))
        try await eventually("the server counts as reachable") {
            let status = try await kiosk.get("/v1/status", as: StatusReply.self)
            return status.server.isReachable == true ? true : nil
        }
        for _ in 0..<3 {
            await #expect(throws: Problem.self) {
                let lookUp = ResolveRequest(eid: EID(literal: "0123456789"))
                _ = try await kiosk.call("POST", "/v1/resolve", lookUp) as ResolvedSession
            }
        }
        try await waitForHealthItem("server-calls-fail", of: kiosk)
    }

    @Test(
        "The status names an unknown host name, and a certificate of an unknown CA",
        arguments: [
            ("http://payments.gotchu.invalid", "server-name-unknown"),
            ("TLS", "server-untrusted"),
        ]
    )
    func unreached(address: String, code: String) async throws {
        let shop = try await Shop()
        let tls = try await TLSServer(in: shop.folder)
        let url = address.replacing("TLS", with: tls.url)
        let kiosk = Device(name: "kiosk", shop: shop)
        try await kiosk.start(extra: ["--server", url])
        try await waitForHealthItem(code, of: kiosk)
    }

    @Test("A payer whose clock is a day ahead can pay, and only the server ends its payments")
    func wrongClock() async throws {
        let shop = try await Shop()
        let kiosk = try await shop.daemon("kiosk", at: "0,0")
        try await kiosk.logIn()
        let faults = try await Faults("payer", in: shop.folder.path)
        try faults.clock(offBy: 86_400)
        let payer = Device(name: "payer", shop: shop)
        let variables = faults.environment.map { "\($0.key)=\($0.value)" }
        try await payer.start(through: ["/usr/bin/env"] + variables)
        try await payer.logIn()
        let request: RequestView = try await kiosk.call(
            "POST",
            "/v1/requests",
            NewRequest(amountCents: 700)
        )
        // The server answers the first payment, and is then stopped.
        let wish = NewPayment(eid: request.eid, confirmAmountCents: 700)
        let payment: PaymentView = try await payer.call("POST", "/v1/payments", wish)
        #expect(try await end(of: payment, on: payer).state == .paid)
        shop.server.signal(SIGSTOP)
        let next = NewPayment(sid: request.id, confirmAmountCents: 700)
        let late: PaymentView = try await payer.call("POST", "/v1/payments", next)
        try await eventually("the call for the lock times out", within: .seconds(40)) {
            let view = try await payer.get("/v1/payments/\(late.id)", as: PaymentView.self)
            return view.nextStep != nil ? true : nil
        }
        let view = try await payer.get("/v1/payments/\(late.id)", as: PaymentView.self)
        #expect(view.state == .locking && view.detail.contains("Nothing was sent yet"))
        shop.server.signal(SIGCONT)
        // The payment ends by the server's answer, not because the payer's clock is ahead.
        #expect(try await end(of: late, on: payer).code == "SESSION_PAID")
    }
}
