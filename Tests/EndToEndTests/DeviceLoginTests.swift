import Foundation
import GotchuAPI
import LocalAPI
import TestSupport
import Testing

/// A registered kiosk, which stays logged in with its credential.
@Suite("A registered kiosk")
struct DeviceLoginTests {
    private let shop: Shop

    init() async throws {
        // Tokens expire after two seconds, so that a test sees many of them.
        shop = try await Shop(more: ["--token-seconds", "2"])
    }

    private func manage(_ arguments: String...) async throws -> String {
        let run = try Program(
            "gotchu-server",
            ["devices"] + arguments + ["--database", shop.database]
        )
        #expect(try await run.exitCode() == 0, "\(run.text)")
        return run.text
    }

    private func code(_ name: String) async throws -> String {
        let lines = try await manage("add", name).split(separator: "\n")
        return try #require(lines.last { $0.hasPrefix("gotchu-device.") }.map(String.init))
    }

    private func logIn(_ kiosk: Device, _ code: String) async throws -> StatusReply {
        try await kiosk.call("POST", "/v1/login", LocalLogin(token: code))
    }

    private func openAndCancelRequest(_ kiosk: Device) async throws -> RequestView {
        let made: RequestView = try await kiosk.call(
            "POST",
            "/v1/requests",
            NewRequest(amountCents: 100)
        )
        return try await kiosk.call("DELETE", "/v1/requests/\(made.id)", nil as String?)
    }

    private func credential(_ file: String) throws -> String {
        try String(contentsOfFile: "\(shop.folder.path)/kiosk/\(file)", encoding: .utf8)
    }

    @Test(
        "A device stays logged in when its tokens expire and after a restart, until it is revoked"
    )
    func unattended() async throws {
        let kiosk = try await shop.daemon("kiosk", at: "0,0")
        let code = try await code("Corner Cafe")
        #expect(try await logIn(kiosk, code).server.isLoggedIn)
        var seen: Set<String> = [code]
        for _ in 0..<3 {
            // With each new token the server sends a new credential, and the kiosk stores it.
            try await eventually("the token is fetched anew") {
                #expect(try await openAndCancelRequest(kiosk).state == .cancelled)
                return seen.insert(try credential("token")).inserted ? true : nil
            }
        }
        try kiosk.signal(SIGKILL)
        _ = try await kiosk.exitCode()
        try await kiosk.start()
        #expect(try await openAndCancelRequest(kiosk).state == .cancelled)
        let log = try kiosk.log()
        #expect(!seen.contains { log.contains($0) })

        let id = String(code.split(separator: ".")[1])
        _ = try await manage("revoke", id)
        try await eventually("the revoked kiosk is refused") { () async throws -> Bool? in
            do {
                _ = try await openAndCancelRequest(kiosk)
                return nil
            } catch let problem as Problem {
                return problem.errorCode == .unauthorized || problem.errorCode == .notLoggedIn
                    ? true : nil
            }
        }
        #expect(try await health(of: kiosk) == ["login-refused"])
        // With a new code, the same device can log in again.
        let renewed = try await manage("renew", id).split(separator: "\n")
        #expect(try await logIn(kiosk, String(renewed[renewed.count - 1])).server.isLoggedIn)
        #expect(try await health(of: kiosk).isEmpty)
        #expect(try await openAndCancelRequest(kiosk).state == .cancelled)
    }

    @Test("A second kiosk with the same code is refused, and the first one stays logged in")
    func secondKiosk() async throws {
        let first = try await shop.daemon("kiosk", at: "0,0")
        let second = try await shop.daemon("other", at: "1,0")
        let code = try await code("Corner Cafe")
        #expect(try await logIn(first, code).server.isLoggedIn)
        for _ in 0..<2 {
            await #expect {
                _ = try await logIn(second, code)
            } throws: { error in
                (error as? Problem)?.errorCode == .deviceCodeUsed
            }
            // The same code, entered again on the first kiosk, changes nothing.
            #expect(try await logIn(first, code).server.isLoggedIn)
            #expect(try await openAndCancelRequest(first).state == .cancelled)
        }
        #expect(try await !second.get("/v1/status", as: StatusReply.self).server.isLoggedIn)
        #expect(try await manage("list").contains("\tgood\t"))
    }

    @Test("The status of an idle kiosk says within a minute that it was revoked")
    func idle() async throws {
        let shop = try await Shop(more: ["--token-seconds", "900"])
        let kiosk = try await shop.daemon("kiosk", at: "0,0")
        let made = try Program(
            "gotchu-server",
            ["devices", "add", "till", "--database", shop.database]
        )
        #expect(try await made.exitCode() == 0)
        let code = try #require(made.text.split(separator: "\n").last.map(String.init))
        #expect(try await logIn(kiosk, code).server.isLoggedIn)
        let id = String(code.split(separator: ".")[1])
        let revoked = try Program(
            "gotchu-server",
            ["devices", "revoke", id, "--database", shop.database]
        )
        #expect(try await revoked.exitCode() == 0)
        let start = ContinuousClock.now
        try await LocalClient(socketPath: kiosk.socket).withEvents {
            try await $0.waitForRefusedLogin()
        }
        #expect(start.duration(to: .now) < .seconds(60))
        #expect(try await health(of: kiosk) == ["login-refused"])
        let doctor = try Program("gotchu-ctl", ["doctor", "--socket", kiosk.socket])
        #expect(try await doctor.exitCode() == 1)
        #expect(doctor.text.contains("✗ login          This device's login was revoked"))
        #expect(doctor.text.contains("gotchu-server devices renew \(id). Then: gotchu-ctl login"))
    }

    @Test("A kiosk reads its code from the operator's file and does not change the file")
    func tokenFile() async throws {
        let code = try await code("Corner Cafe")
        let file = try shop.folder.write(code + "\n", to: "code")
        let kiosk = Device(name: "kiosk", shop: shop)
        try await kiosk.start(extra: ["--token-file", file])
        var seen: Set<String> = []
        for _ in 0..<3 {
            try await eventually("the token is fetched anew") {
                #expect(try await openAndCancelRequest(kiosk).state == .cancelled)
                return seen.insert(try credential("device-credential")).inserted ? true : nil
            }
        }
        #expect(try String(contentsOfFile: file, encoding: .utf8) == code + "\n")
        try kiosk.signal(SIGTERM)
        #expect(try await kiosk.exitCode() == 0)
        try await kiosk.start(extra: ["--token-file", file])
        #expect(try await openAndCancelRequest(kiosk).state == .cancelled)
    }

    @Test("A missing token file is named in the kiosk's status, refusals and log, and by doctor")
    func missingTokenFile() async throws {
        let file = "\(shop.folder.path)/no-such-token"
        let kiosk = Device(name: "kiosk", shop: shop)
        try await kiosk.start(extra: ["--token-file", file])
        let status = try await kiosk.get("/v1/status", as: StatusReply.self)
        let problem = try #require(status.health.first { $0.code == "not-logged-in" })
        #expect(problem.text == "gotchud finds no token in \(file).")
        #expect(problem.fix.hasPrefix("Put the token into \(file), "))
        await #expect {
            _ = try await openAndCancelRequest(kiosk)
        } throws: { error in
            (error as? Problem)?.fix == problem.fix
        }
        let doctor = try Program("gotchu-ctl", ["doctor", "--socket", kiosk.socket])
        #expect(try await doctor.exitCode() == 1)
        #expect(doctor.text.contains("✗ login          \(problem.text)\n  → \(problem.fix)\n"))
        #expect(try kiosk.log().contains("gotchud finds no token in \(file)."))
    }

    @Test("An invalid code or token is refused, and the kiosk stays logged out")
    func wrongCode() async throws {
        let kiosk = try await shop.daemon("kiosk", at: "0,0")
        let code = try await code("Corner Cafe")
        for wrong in [code.dropLast(2) + (code.hasSuffix("AA") ? "QQ" : "AA"), "a.typed.token"] {
            await #expect {
                _ = try await logIn(kiosk, String(wrong))
            } throws: { error in
                (error as? Problem)?.errorCode == .notLoggedIn
            }
        }
        let status = try await kiosk.get("/v1/status", as: StatusReply.self)
        #expect(!status.server.isLoggedIn)
    }

    @Test("A registered kiosk replaces a token that the server refuses; a person must log in again")
    func refusedToken() async throws {
        let shop = try await Shop(more: ["--token-seconds", "900"])
        let (kiosk, payer) = try await shop.pair()
        _ = try await kiosk.call("DELETE", "/v1/login", nil as String?) as StatusReply
        let made = try Program(
            "gotchu-server",
            ["devices", "add", "till", "--database", shop.database]
        )
        #expect(try await made.exitCode() == 0)
        let code = try #require(made.text.split(separator: "\n").last.map(String.init))
        #expect(try await logIn(kiosk, code).server.isLoggedIn)
        #expect(try await openAndCancelRequest(kiosk).state == .cancelled)

        // The restarted server has a new signing secret, so it refuses all earlier tokens.
        shop.server.signal(SIGTERM)
        #expect(try await shop.server.exitCode() == 0)
        try FileManager.default.removeItem(atPath: "\(shop.folder.path)/books.db.dev-secret")
        let address = String(shop.url.dropFirst("http://".count))
        let again = try Program(
            "gotchu-server",
            ["--listen", address, "--database", shop.database, "--dev"]
        )
        try await eventually("the server listens; it said: \(again.text)") {
            again.text.contains("listening on") ? true : nil
        }
        let request = try await eventually("the kiosk finds the server again") {
            try? await openAndCancelRequest(kiosk)
        }
        #expect(request.state == .cancelled)
        #expect(try await health(of: kiosk).isEmpty)

        try await LocalClient(socketPath: payer.socket).withEvents { events in
            _ = try await events.next()
            try await eventually("the server refuses the person's token") { () -> Bool? in
                do {
                    _ = try await payer.balance()
                    return nil
                } catch let problem as Problem {
                    return problem.errorCode == .notLoggedIn ? true : nil
                }
            }
            // The daemon reports the refusal at once, not after its next check of the server.
            let refused = ContinuousClock.now
            try await events.waitForRefusedLogin()
            #expect(refused.duration(to: .now) < .seconds(2))
        }
        #expect(try await health(of: payer) == ["login-refused"])
        let doctor = try Program("gotchu-ctl", ["doctor", "--socket", payer.socket])
        #expect(try await doctor.exitCode() == 1)
        #expect(doctor.text.contains("✗ login          The payment server does not accept"))
        try await payer.logIn()
        #expect(try await health(of: payer).isEmpty)
    }

    private func health(of device: Device) async throws -> [String] {
        let status = try await device.get("/v1/status", as: StatusReply.self)
        #expect(status.isReady == status.health.isEmpty)
        return status.health.map(\.code)
    }
}

extension LocalStream<Event> {
    /// Waits until the status says that the server refuses the login.
    fileprivate mutating func waitForRefusedLogin() async throws {
        while let event = try await next() {
            guard case .statusChanged(let status) = event else { continue }
            if status.health.contains(where: { $0.code == "login-refused" }) { return }
        }
    }
}
