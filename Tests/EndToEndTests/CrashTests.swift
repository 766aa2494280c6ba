import Foundation
import GotchuAPI
import GotchuCore
import TestSupport
import Testing

@Suite("Payments and requests survive crashes and a server that does not answer")
struct CrashTests {
    @Test("A payer that is killed during a payment pays exactly once after its next start")
    func payerKilled() async throws {
        let shop = try await Shop()
        let (kiosk, payer) = try await shop.pair()
        for round in 1...3 {
            let request: RequestView = try await kiosk.call(
                "POST",
                "/v1/requests",
                NewRequest(amountCents: 1000)
            )
            // The stopped server does not answer, so the payment is open when the payer is killed.
            // The call names the session's id, because no EID can be resolved now.
            shop.server.signal(SIGSTOP)
            let wish = NewPayment(sid: request.id, confirmAmountCents: 1000)
            let payment: PaymentView = try await payer.call("POST", "/v1/payments", wish)
            #expect(payment.state == .locking)
            try payer.signal(SIGKILL)
            _ = try await payer.exitCode()
            shop.server.signal(SIGCONT)
            try await payer.start(at: "1,0")
            let ended = try await end(of: payment, on: payer)
            #expect(ended.state == .paid)
            #expect(try await payer.balance() == 10_000 - Int64(round) * 1000)
        }
        #expect(try await kiosk.balance() == 13_000)
        #expect(try await shop.verify().exitCode == 0)
    }

    @Test("A kiosk that is killed while its request waits continues the request at its next start")
    func kioskKilled() async throws {
        let shop = try await Shop()
        let (kiosk, payer) = try await shop.pair(payerAt: "0.1,0")
        let request: RequestView = try await kiosk.call(
            "POST",
            "/v1/requests",
            NewRequest(amountCents: 1000)
        )
        try kiosk.signal(SIGKILL)
        _ = try await kiosk.exitCode()
        try await kiosk.start(at: "0,0")
        try await eventually("the same EID is heard again") {
            try await payer.verdict(on: request.eid) == .tap ? true : nil
        }
        let payment: PaymentView = try await payer.call(
            "POST",
            "/v1/payments",
            NewPayment(eid: request.eid, confirmAmountCents: 1000, proximity: .tap)
        )
        #expect(try await end(of: payment, on: payer).state == .paid)
        try await eventually("the kiosk is told") {
            let view = try await kiosk.get("/v1/requests/\(request.id)", as: RequestView.self)
            return view.state == .paid ? true : nil
        }
    }

    @Test("A payment stays open while the server does not answer, and is paid afterwards")
    func serverAway() async throws {
        let shop = try await Shop()
        let (kiosk, payer) = try await shop.pair()
        let request: RequestView = try await kiosk.call(
            "POST",
            "/v1/requests",
            NewRequest(amountCents: 1000)
        )
        shop.server.signal(SIGSTOP)
        let payment: PaymentView = try await payer.call(
            "POST",
            "/v1/payments",
            NewPayment(sid: request.id, confirmAmountCents: 1000)
        )
        try await eventually("it says that nothing was sent", within: .seconds(30)) {
            let view = try await payer.get("/v1/payments/\(payment.id)", as: PaymentView.self)
            #expect(view.state == .locking)
            return view.nextStep == "gotchu-ctl cancel \(payment.id)" ? true : nil
        }
        shop.server.signal(SIGCONT)
        #expect(try await end(of: payment, on: payer).state == .paid)
        #expect(try await payer.balance() == 9000)
        #expect(try await kiosk.balance() == 11_000)
    }

    @Test(
        "An open payment continues only for its own user; until it ends, no other user can log in"
    )
    func loginLost() async throws {
        let shop = try await Shop()
        let (kiosk, payer) = try await shop.pair()
        let request: RequestView = try await kiosk.call(
            "POST",
            "/v1/requests",
            NewRequest(amountCents: 1000)
        )
        let file = "\(shop.folder.path)/payer/token"
        let own = try String(contentsOfFile: file, encoding: .utf8)
        let other = try String(contentsOfFile: "\(shop.folder.path)/kiosk/token", encoding: .utf8)
        shop.server.signal(SIGSTOP)
        let payment: PaymentView = try await payer.call(
            "POST",
            "/v1/payments",
            NewPayment(sid: request.id, confirmAmountCents: 1000)
        )
        try payer.signal(SIGKILL)
        _ = try await payer.exitCode()
        // The file holds another user's token for now.
        try other.write(toFile: file, atomically: true, encoding: .utf8)
        shop.server.signal(SIGCONT)
        try await payer.start(at: "1,0")
        try await eventually("it waits for its own user") {
            let view = try await payer.get("/v1/payments/\(payment.id)", as: PaymentView.self)
            #expect(view.state == .locking)
            return view.nextStep == "gotchu-ctl login" ? true : nil
        }
        try FileManager.default.removeItem(atPath: file)
        try payer.signal(SIGHUP)
        try await eventually("nobody is logged in") {
            let status = try await payer.get("/v1/status", as: StatusReply.self)
            return status.server.isLoggedIn ? nil : true
        }
        await #expect {
            try await payer.call("POST", "/v1/login", LocalLogin(token: other)) as StatusReply
        } throws: { ($0 as? Problem)?.errorCode == .paymentInProgress }
        let status: StatusReply = try await payer.call(
            "POST",
            "/v1/login",
            LocalLogin(token: own)
        )
        #expect(status.server.isLoggedIn)
        #expect(try await end(of: payment, on: payer).state == .paid)
        #expect(try await payer.balance() == 9000)
    }
}
