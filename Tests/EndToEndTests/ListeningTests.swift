import GotchuAPI
import GotchuCore
import TestSupport
import Testing

@Suite("Listening while a program needs it")
struct ListeningTests {
    private func heard(by device: Device) async throws -> Double? {
        let ours = ["result": "ours", "reason": "service_data"]
        return try await Metrics(of: device)["gotchu_adverts_total", ours]
    }

    @Test("A till with an open request does not listen, is ready, and is paid by a tap")
    func till() async throws {
        let shop = try await Shop()
        let (kiosk, payer) = try await shop.pair(payerAt: "0.1,0")
        let request: RequestView = try await kiosk.call(
            "POST",
            "/v1/requests",
            NewRequest(amountCents: 1280)
        )
        // If the till listened, it would hear this advertisement of the payer.
        let other: RequestView = try await payer.call(
            "POST",
            "/v1/requests",
            NewRequest(amountCents: 100)
        )
        #expect(other.isOnAir)
        // A reader of events that does not ask for presences does not make the till listen.
        let readers = try EventReaders(1, at: kiosk.socket)
        defer { readers.close() }
        // Neither daemon has listened yet. The payer's daemon begins to listen during this call.
        let wish = NewPayment(eid: request.eid, confirmAmountCents: 1280, proximity: .tap)
        let payment: PaymentView = try await payer.call("POST", "/v1/payments", wish)
        #expect(try await end(of: payment, on: payer).state == .paid)
        try await eventually("the till learns of the payment") {
            let view = try await kiosk.get("/v1/requests/\(request.id)", as: RequestView.self)
            return view.state == .paid ? true : nil
        }
        let status = try await kiosk.get("/v1/status", as: StatusReply.self)
        #expect(status.isReady && !status.radio.isScanning)
        #expect(status.radio.listening == ListeningStatus(setting: .auto, isWanted: false))
        #expect(try await heard(by: kiosk) == 0)
        #expect(try #require(try await heard(by: payer)) > 0)
        // A call for the presences makes the till listen.
        #expect(try await kiosk.verdict(on: other.eid) != nil)
        #expect(try #require(try await heard(by: kiosk)) > 0)
    }

    @Test("Command `scan --once` makes the daemon listen first, and says so")
    func once() async throws {
        let shop = try await Shop()
        let (kiosk, payer) = try await shop.pair(payerAt: "0.1,0")
        let request: RequestView = try await kiosk.call(
            "POST",
            "/v1/requests",
            NewRequest(amountCents: 100)
        )
        let scan = try Program("gotchu-ctl", ["scan", "--once", "--socket", payer.socket])
        #expect(try await scan.exitCode() == 0, "\(scan.text)")
        #expect(scan.text.contains("Listening for a moment"))
        #expect(scan.text.contains("\(request.eid)"))
        let status = try Program("gotchu-ctl", ["status", "--socket", kiosk.socket])
        #expect(try await status.exitCode() == 0, "\(status.text)")
        #expect(status.text.contains("not listening, as no program asks what is near"))
    }

    @Test("A daemon set to never listen is ready, and commands that must listen name the setting")
    func never() async throws {
        let shop = try await Shop()
        let device = Device(name: "kiosk", shop: shop)
        try await device.start(extra: ["--listen", "never"])
        try await device.logIn()
        #expect(try await device.get("/v1/status", as: StatusReply.self).isReady)
        for command in [
            ["scan", "--once"], ["scan", "--timeout", "1"], ["wait", "--for", "tap"],
        ] {
            let arguments = command + (command[0] == "wait" ? ["--timeout", "1"] : [])
            let program = try Program("gotchu-ctl", arguments + ["--socket", device.socket])
            #expect(try await program.exitCode() == 74, "\(command): \(program.text)")
            #expect(program.text.contains("the setting 'listen' is 'never'"), "\(program.text)")
        }
    }
}
