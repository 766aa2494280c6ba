import Foundation
import GotchuAPI
import GotchuCore
import TestSupport
import Testing

@Suite("Payments survive crashes and a server that does not answer")
struct CrashTests {
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
        try await eventually("the call for the lock times out", within: .seconds(30)) {
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
        try await eventually("the payment waits for its own user") {
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
