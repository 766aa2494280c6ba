import Foundation
import GotchuAPI
import GotchuCore
import TestSupport
import Testing

@Suite("The customer's display")
struct DisplayTests {
    private let terms = NewRequest(amountCents: 1280, memo: "2 flat whites")

    private func payment(_ request: RequestView) -> NewPayment {
        NewPayment(eid: request.eid, confirmAmountCents: 1280, proximity: .tap)
    }

    /// A kiosk with a display, and a payer at the kiosk.
    private func sale(_ shop: Shop) async throws -> (display: DisplayPort, payer: Device) {
        let display = try await DisplayPort.start(Device(name: "kiosk", shop: shop), of: shop)
        let payer = try await shop.daemon("payer", at: "0.1,0")
        try await display.device.logIn()
        try await payer.logIn()
        try await display.reaches(.idle)
        return (display, payer)
    }

    @Test("Two displays show the same states of a sale, from the request to the payment")
    func wholeSale() async throws {
        let shop = try await Shop()
        let (display, payer) = try await sale(shop)
        let readers = [try display.follow(), try display.follow()]
        try await eventually("both readers have the idle state") {
            readers.allSatisfy { $0.states.last?.state == .idle } ? true : nil
        }
        let request: RequestView = try await display.device.call("POST", "/v1/requests", terms)
        let waiting = try await display.reaches(.waiting)
        #expect(waiting.amount == "$12.80" && waiting.memo == "2 flat whites")
        #expect(waiting.shop == "kiosk", "the name that the payer's phone shows")
        #expect(waiting.code?.text == String("\(request.eid)".suffix(4)))
        #expect((1...300_000).contains(waiting.left?.milliseconds ?? 0))
        let _: PaymentView = try await payer.call("POST", "/v1/payments", payment(request))
        let paid = try await display.reaches(.paid)
        #expect(paid.amount == "$12.80" && paid.headline == "Paid")
        #expect(paid.memo == nil && paid.code == nil && paid.left == nil)
        let idle = try await display.reaches(.idle)
        #expect(idle.amount == nil && idle.shop == "Corner <Cafe>")
        try await eventually("both readers have the last state") {
            readers.allSatisfy { $0.states.last?.state == .idle } ? true : nil
        }
        #expect(readers[0].states == readers[1].states)
        let shown = readers[0].states.map(\.state)
        // A payment by tap may be too quick for the display to show these states.
        let passing: Set<DisplayState> = [.near, .preparing, .confirming]
        #expect(shown.filter { !passing.contains($0) } == [.idle, .waiting, .paid, .idle])
        #expect(readers[0].states.dropFirst().dropLast().allSatisfy { $0.amount == "$12.80" })
        for reader in readers { reader.program.signal(SIGKILL) }
    }

    @Test("The socket, the port and the console show the same display")
    func alike() async throws {
        let shop = try await Shop()
        let (display, _) = try await sale(shop)
        let console = try Program("gotchu-ctl", ["--socket", display.device.socket, "display"])
        let request: RequestView = try await display.device.call("POST", "/v1/requests", terms)
        var here = try await display.reaches(.waiting)
        var there = try await display.device.get("/v1/display", as: DisplayReply.self)
        here.left?.milliseconds = 0
        there.left?.milliseconds = 0
        #expect(here == there)
        let _: RequestView = try await display.device.call(
            "DELETE",
            "/v1/requests/\(request.id)",
            nil as String?
        )
        try await display.reaches(.cancelled)
        try await eventually("the console has shown both states: \(console.text)") {
            console.text.contains("$12.80 · Hold your phone here · Open your wallet app\n")
                && console.text.contains("$12.80 · Cancelled · Nothing was charged\n") ? true : nil
        }
    }

    @Test(
        "A restarted daemon's display says that it checks the payment until the server has answered"
    )
    func killedBeforeTheEnd() async throws {
        let shop = try await Shop()
        let (display, payer) = try await sale(shop)
        let request: RequestView = try await display.device.call("POST", "/v1/requests", terms)
        try await eventually("the payer hears the request at tap distance") {
            try await payer.verdict(on: request.eid) == .tap ? true : nil
        }
        try display.device.signal(SIGKILL)
        _ = try await display.device.exitCode()
        let _: PaymentView = try await payer.call("POST", "/v1/payments", payment(request))
        try await eventually("the payment is paid") {
            let payments = try await payer.get("/v1/payments", as: PaymentsReply.self).payments
            return payments.first?.state == .paid ? true : nil
        }
        // The restarted daemon cannot learn the outcome while the server is stopped.
        shop.server.signal(SIGSTOP)
        defer { shop.server.signal(SIGCONT) }
        let again = try await DisplayPort.start(display.device, of: shop)
        let checking = try await again.reaches(.checking)
        #expect(checking.amount == "$12.80" && checking.line == "Please wait and do not pay again")
        shop.server.signal(SIGCONT)
        try await again.reaches(.paid)
    }

    @Test(
        "The display shows a note within 12 s after the server hangs, until the server answers"
    )
    func silentServer() async throws {
        let shop = try await Shop()
        let (display, payer) = try await sale(shop)
        let request: RequestView = try await display.device.call("POST", "/v1/requests", terms)
        try await display.reaches(.waiting)
        shop.server.signal(SIGSTOP)
        defer { shop.server.signal(SIGCONT) }
        try await eventually("the display has a note", within: .seconds(12)) {
            try await display.now().note
        }
        let note = try await display.now()
        #expect(note.state == .waiting && note.amount == "$12.80" && note.line == nil)
        shop.server.signal(SIGCONT)
        try await eventually("the note is gone") {
            try await display.now().note == nil ? true : nil
        }
        let _: PaymentView = try await payer.call("POST", "/v1/payments", payment(request))
        try await display.reaches(.paid)
    }

    @Test("A ninth reader of a display's events is refused until one of eight readers has gone")
    func readerLimit() async throws {
        let shop = try await Shop()
        let display = try await DisplayPort.start(Device(name: "kiosk", shop: shop), of: shop)
        let readers = try (0..<8).map { _ in try display.follow() }
        try await eventually("all eight readers have a state") {
            readers.allSatisfy { !$0.states.isEmpty } ? true : nil
        }
        let ninth = try await display.call("/v1/display/events")
        #expect(ninth.status == 429 && ninth.text.contains("RATE_LIMITED"))
        readers[0].program.signal(SIGKILL)
        try await eventually("the ended reader's place is free") {
            let next = try await display.call("/v1/display/events", ["--max-time", "1"])
            return next.status == 200 ? true : nil
        }
        for reader in readers { reader.program.signal(SIGKILL) }
    }

    @Test("The display's port refuses other users, hosts, pages and methods")
    func strangers() async throws {
        let shop = try await Shop()
        let display = try await DisplayPort.start(Device(name: "kiosk", shop: shop), of: shop)
        for path in ["/display", "/v1/display", "/v1/display/events", "/assets/none.css"] {
            #expect(try await display.call(path, as: 4_000_001).status == 403, "\(path)")
        }
        for field in [
            "Host: localhost", "Host: shop.example", "Origin: null", "Sec-Fetch-Site: cross-site",
            "Sec-Fetch-Site: same-site", "Origin: http://127.0.0.1:1",
        ] {
            let reply = try await display.call("/display", ["--header", field])
            #expect(reply.status == 403 && reply.text.contains("BROWSER_REFUSED"), "\(field)")
        }
        let own = ["--header", "Origin: \(display.origin)"]
        let json = own + ["--header", "Content-Type: application/json"]
        for path in ["/display", "/v1/display", "/v1/display/events"] {
            let reply = try await display.call(path, json + ["--data", "{}"])
            #expect(reply.status == 405, "\(path)")
        }
        // These routes of the till's port and of the socket do not exist on the display's port.
        for path in ["/v1/requests", "/v1/status", "/v1/events", "/till", "/metrics"] {
            #expect(try await display.call(path).status == 404, "\(path)")
        }
        #expect(try await display.call("/").status == 303)
    }

    @Test("The display's page has a content policy, and all its assets exist")
    func page() async throws {
        let shop = try await Shop()
        let display = try await DisplayPort.start(Device(name: "kiosk", shop: shop), of: shop)
        let page = try await display.call("/display", ["--include"])
        #expect(page.status == 200 && page.text.contains("Content-Security-Policy: default-src 'n"))
        #expect(page.text.contains("Corner &lt;Cafe&gt;") && !page.text.contains("<Cafe>"))
        let assets = page.text.matches(of: /(?:href|src)="(\/[^"]*)"/).map { String($0.output.1) }
        #expect(assets.count == 4)
        for path in assets {
            let asset = try await display.call(path, ["--include"])
            #expect(asset.status == 200 && asset.text.contains("immutable"), "\(path)")
        }
        let build = try await display.now().build
        #expect(page.text.contains("data-build=\"\(build)\""))
        // The log must name the service without its fields, because these contain the page.
        #expect(try display.device.log().contains("service=DisplayService"))
        #expect(try !display.device.log().contains("doctype"))
    }

    @Test("The display answers after 300 clients have hung up before or during an answer")
    func hungUp() async throws {
        let shop = try await Shop()
        let display = try await DisplayPort.start(Device(name: "kiosk", shop: shop), of: shop)
        let port = try #require(display.origin.split(separator: ":").last)
        let script = """
            import socket, struct, sys
            for n in range(300):
                s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
                s.send(b"GET /v1/display HTTP/1.1\\r\\nHost: 127.0.0.1:" + sys.argv[1].encode()
                       + b"\\r\\n\\r\\n")
                if n % 3 == 2: s.recv(100)
                if n % 3 == 1:
                    at_once = struct.pack("ii", 1, 0)
                    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, at_once)
                s.close()
            """
        let rude = try Program("/usr/bin/python3", ["-c", script, "\(port)"])
        #expect(try await rude.exitCode() == 0, "\(rude.text)")
        _ = try await display.now()
    }
}
