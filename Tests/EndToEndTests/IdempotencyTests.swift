import Foundation
import GotchuAPI
import GotchuCore
import TestSupport
import Testing

@Suite("A call that is repeated")
struct IdempotencyTests {
    private let wish = NewRequest(amountCents: 1200, memo: "Tea")

    /// The number of requests that the daemon knows.
    private func count(_ kiosk: Device) async throws -> Int {
        try await kiosk.get("/v1/requests", as: RequestsReply.self).requests.count
    }

    private func openRequest(_ kiosk: Device, _ key: String) async throws -> RequestView {
        try await kiosk.call("POST", "/v1/requests", wish, key: key)
    }

    @Test(
        "A repeated call makes no second request, even after a kill, and its reply is marked"
    )
    func request() async throws {
        let shop = try await Shop()
        let kiosk = try await shop.daemon("kiosk", at: "0,0")
        try await kiosk.logIn()
        let key = IdempotencyKey.random().rawValue
        let first = try await openRequest(kiosk, key)
        let raw = try Program(
            "/usr/bin/curl",
            [
                "--silent", "--include", "--unix-socket", kiosk.socket,
                "--header", "Idempotency-Key: \"\(key)\"",
                "--data", #"{"memo":"Tea","amount_cents":1200}"#, "http://gotchu/v1/requests",
            ]
        )
        try await raw.exitCode()
        #expect(raw.text.hasPrefix("HTTP/1.1 201"))
        #expect(raw.text.contains("Idempotent-Replayed: true"))
        #expect(raw.text.contains(first.id.rawValue))
        await #expect {
            let other = NewRequest(amountCents: 1201, memo: "Tea")
            _ = try await kiosk.call("POST", "/v1/requests", other, key: key) as RequestView
        } throws: { ($0 as? Problem)?.errorCode == .idempotencyKeyReused }
        await #expect {
            _ = try await openRequest(kiosk, "short")
        } throws: { ($0 as? Problem)?.errorCode == .validationError }
        try kiosk.signal(SIGKILL)
        _ = try await kiosk.exitCode()
        try await kiosk.start(at: "0,0")
        #expect(try await openRequest(kiosk, key).id == first.id)
        #expect(try await openRequest(kiosk, IdempotencyKey.random().rawValue).id != first.id)
        #expect(try await count(kiosk) == 2)
    }

    @Test("Four simultaneous calls with one key make one request, and all return its id")
    func atOnce() async throws {
        let shop = try await Shop()
        let kiosk = try await shop.daemon("kiosk", at: "0,0")
        try await kiosk.logIn()
        let key = IdempotencyKey.random().rawValue
        shop.server.signal(SIGSTOP)
        let ids = try await withThrowingTaskGroup(of: SessionID?.self) { group in
            for _ in 0..<4 { group.addTask { try await openRequest(kiosk, key).id } }
            group.addTask {
                // All four callers are connected to the daemon before the server can answer.
                try await eventually("the daemon has four connections") {
                    // The fifth socket is the one on which the daemon listens.
                    // The kernel shows the name to which the daemon has bound it.
                    try Self.socketCount(at: kiosk.socket + "~") >= 5 ? true : nil
                }
                shop.server.signal(SIGCONT)
                return nil
            }
            return try await group.reduce(into: Set<SessionID>()) { ids, id in
                if let id { ids.insert(id) }
            }
        }
        #expect(ids.count == 1)
        #expect(try await count(kiosk) == 1)
    }

    /// The number of Unix sockets at a path.
    private static func socketCount(at path: String) throws -> Int {
        // Foundation would take a short read of this file in /proc as the end of the file.
        let file = try #require(fopen("/proc/net/unix", "r"))
        defer { fclose(file) }
        var line: UnsafeMutablePointer<CChar>?
        var capacity = 0
        defer { free(line) }
        var count = 0
        while getline(&line, &capacity, file) > 0 {
            if let line, String(cString: line).hasSuffix(" \(path)\n") { count += 1 }
        }
        return count
    }

    @Test(
        "A call that is refused without a login can be repeated with its key after the login"
    )
    func afterFailure() async throws {
        let shop = try await Shop()
        let kiosk = try await shop.daemon("kiosk", at: "0,0")
        let key = IdempotencyKey.random().rawValue
        await #expect {
            _ = try await openRequest(kiosk, key)
        } throws: { ($0 as? Problem)?.errorCode == .notLoggedIn }
        try await kiosk.logIn()
        #expect(try await openRequest(kiosk, key).state == .advertising)
        #expect(try await count(kiosk) == 1)
    }

    @Test("A repeated payment call charges once and returns the outcome of the payment")
    func payment() async throws {
        let shop = try await Shop()
        let (kiosk, payer) = try await shop.pair()
        let request = try await openRequest(kiosk, IdempotencyKey.random().rawValue)
        let key = IdempotencyKey.random().rawValue
        let pay = NewPayment(eid: request.eid, confirmAmountCents: 1200)
        let first: PaymentView = try await payer.call("POST", "/v1/payments", pay, key: key)
        #expect(try await end(of: first, on: payer).state == .paid)
        let again: PaymentView = try await payer.call("POST", "/v1/payments", pay, key: key)
        #expect(again.id == first.id && again.state == .paid)
        await #expect {
            let other = NewPayment(eid: request.eid, confirmAmountCents: 1)
            _ = try await payer.call("POST", "/v1/payments", other, key: key) as PaymentView
        } throws: { ($0 as? Problem)?.errorCode == .idempotencyKeyReused }
        #expect(try await payer.balance() == 8800)
    }

    @Test("A call with another key returns the same payment: open, after a kill, and after its end")
    func joined() async throws {
        let shop = try await Shop()
        let (kiosk, payer) = try await shop.pair()
        let request = try await openRequest(kiosk, IdempotencyKey.random().rawValue)
        let pay = NewPayment(sid: request.id, confirmAmountCents: 1200)
        let keys = (0..<3).map { _ in IdempotencyKey.random().rawValue }
        func paid(_ key: String) async throws -> PaymentView {
            try await payer.call("POST", "/v1/payments", pay, key: key)
        }
        shop.server.signal(SIGSTOP)
        let first = try await paid(keys[0])
        #expect(try await paid(keys[1]).id == first.id)
        await #expect {
            let other = NewPayment(sid: request.id, confirmAmountCents: 1)
            _ = try await payer.call("POST", "/v1/payments", other, key: keys[2]) as PaymentView
        } throws: { ($0 as? Problem)?.errorCode == .amountChanged }
        try payer.signal(SIGKILL)
        _ = try await payer.exitCode()
        try await payer.start(at: "1,0")
        shop.server.signal(SIGCONT)
        #expect(try await end(of: first, on: payer).state == .paid)
        for key in keys.prefix(2) {
            let again = try await paid(key)
            #expect(again.id == first.id && again.state == .paid)
        }
        #expect(try await payer.balance() == 8800)
    }
}
