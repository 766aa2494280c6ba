import Foundation
import GotchuAPI
import GotchuCore
import TestSupport
import Testing

@Suite("A request")
struct RequestTests {
    @Test("A request that nobody pays expires and leaves the air")
    func expires() async throws {
        let shop = try await Shop()
        let kiosk = try await shop.daemon("kiosk", at: "0,0")
        try await kiosk.logIn()
        let request: RequestView = try await kiosk.call(
            "POST",
            "/v1/requests",
            NewRequest(amountCents: 100, ttlSeconds: 2)
        )
        let ended = try await eventually("the request ends") {
            let view = try await kiosk.get("/v1/requests/\(request.id)", as: RequestView.self)
            return view.state.isFinal ? view : nil
        }
        #expect(ended.state == .expired)
        let status = try await kiosk.get("/v1/status", as: StatusReply.self)
        #expect(status.radio.advertising.isEmpty)
    }

    @Test("A cancelled request leaves the air at once; a second cancellation is no error")
    func cancelled() async throws {
        let shop = try await Shop()
        let kiosk = try await shop.daemon("kiosk", at: "0,0")
        try await kiosk.logIn()
        let request: RequestView = try await kiosk.call(
            "POST",
            "/v1/requests",
            NewRequest(amountCents: 100)
        )
        for _ in 0..<2 {
            let view: RequestView = try await kiosk.call(
                "DELETE",
                "/v1/requests/\(request.id)",
                nil as String?
            )
            #expect(view.state == .cancelled && !view.isOnAir)
        }
    }

    @Test(
        "An invalid request is refused",
        arguments: [
            NewRequest(amountCents: 0), NewRequest(amountCents: -1),
            NewRequest(amountCents: 100_000_001), NewRequest(amountCents: 1, ttlSeconds: 301),
            NewRequest(amountCents: 1, memo: String(repeating: "x", count: 141)),
        ]
    )
    func refused(new: NewRequest) async throws {
        let shop = try await Shop()
        let kiosk = try await shop.daemon("kiosk", at: "0,0")
        try await kiosk.logIn()
        await #expect {
            try await kiosk.call("POST", "/v1/requests", new) as RequestView
        } throws: { ($0 as? Problem)?.errorCode == .validationError }
    }

    @Test("A request is refused without a login, and while the server does not run")
    func unavailable() async throws {
        let shop = try await Shop()
        let kiosk = try await shop.daemon("kiosk", at: "0,0")
        let new = NewRequest(amountCents: 100)
        await #expect {
            try await kiosk.call("POST", "/v1/requests", new) as RequestView
        } throws: { ($0 as? Problem)?.errorCode == .notLoggedIn }
        try await kiosk.logIn()
        shop.server.signal(SIGKILL)
        try await shop.server.exitCode()
        await #expect {
            try await kiosk.call("POST", "/v1/requests", new) as RequestView
        } throws: { ($0 as? Problem)?.errorCode == .serverUnreachable }
        try await eventually("the status names the unreachable server") {
            let status = try await kiosk.get("/v1/status", as: StatusReply.self)
            return status.health.contains { $0.code == "server-unreachable" } ? true : nil
        }
        try await eventually("the log names the unreachable server") {
            try kiosk.log().contains(
                /notice: The payment server cannot do its work .+/
            ) ? true : nil
        }
    }
}
