import Foundation
import TestSupport
import Testing

/// Tests of registered devices: their enrolment, the renewal of credentials, and revocation.
@Suite("Devices")
struct DeviceTokenTests {
    private let server: ServerProcess
    private var wire: Wire { server.wire }

    init() async throws {
        server = try await ServerProcess(opening: nil, more: ["--token-seconds", "900"])
    }

    /// Registers a device and returns its enrolment code.
    private func add(_ arguments: String...) async throws -> String {
        let made = try Program(
            "gotchu-server",
            ["devices", "add"] + arguments + ["--database", "sqlite:\(server.path)"]
        )
        #expect(try await made.exitCode() == 0, "\(made.text)")
        return try #require(
            made.text.split(separator: "\n").last { $0.hasPrefix("gotchu-device.") }.map(
                String.init
            )
        )
    }

    private func manage(_ arguments: String...) async throws -> (code: Int32, text: String) {
        let run = try Program(
            "gotchu-server",
            ["devices"] + arguments + ["--database", "sqlite:\(server.path)"]
        )
        return (try await run.exitCode(), run.text)
    }

    private func refresh(_ credential: String) async throws -> WireReply {
        try await wire.post("/auth/token", #"{"refresh_token":"\#(credential)"}"#)
    }

    private func id(of credential: String) -> String {
        String(credential.split(separator: ".")[1])
    }

    @Test("An enrolment code yields a token with the device's rights for the wallet of its user")
    func enrolment() async throws {
        let code = try await add("Corner Cafe")
        let reply = try await refresh(code)
        #expect(
            reply.names == "access_token expires_in refresh_token scope token_type user_id"
        )
        #expect(reply.integer("expires_in") == 900 && reply.string("scope") == "payee")
        let token = reply.string("access_token")
        let created = try await wire.create(token, cents: 5)
        #expect(created.status == 200)
        let eid = created.string("eid")
        let shown = try await wire.post("/sessions/resolve", #"{"eid":"\#(eid)"}"#)
        #expect((shown.members["payee_display"] as? [String: String])?["name"] == "Corner Cafe")
        let refused = try await wire.lock(created.string("sid"), by: token)
        #expect(refused.code == "FORBIDDEN")
        #expect(
            refused.string("detail")
                == "This login may not spend, because its device was added without --may-spend."
        )
        let fix = "The operator: gotchu-server devices add NAME --user USER --may-spend"
        #expect(refused.string("fix") == fix)

        // A second till uses the wallet of the same shop, and a payer's device may lock a session.
        let user = reply.string("user_id")
        let second = try await refresh(try await add("Till 2", "--user", user))
        #expect(second.string("user_id") == user)
        let payer = try await refresh(try await add("Pat", "--may-spend"))
        let lock = try await wire.lock(created.string("sid"), by: payer.string("access_token"))
        #expect(lock.status == 200)
    }

    @Test("Each renewal gives a new credential; the use of an old credential revokes the device")
    func rotation() async throws {
        let code = try await add("till")
        var credential = code
        var credentials = [code]
        for _ in 0..<5 {
            let reply = try await refresh(credential)
            #expect(reply.status == 200)
            credential = reply.string("refresh_token")
            #expect(!credentials.contains(credential))
            credentials.append(credential)
        }
        #expect(try await refresh(credentials[1]).code == "DEVICE_REVOKED")
        #expect(try await refresh(credential).code == "DEVICE_REVOKED")
        let list = try await manage("list")
        #expect(list.text.contains("\trevoked-for-reuse\t"))
        // Neither the programs' output nor the server's files contain a secret of the device.
        let secrets = credentials.map { $0.split(separator: ".")[3] }
        #expect(Set(secrets).count == 6)
        let output = server.program.text + list.text
        for secret in secrets { #expect(!output.contains(secret)) }
        #expect(!output.contains("gotchu-device."))
        let files = try FileManager.default.contentsOfDirectory(atPath: server.folder.path)
        for file in files {
            let data = try Data(contentsOf: URL(fileURLWithPath: "\(server.folder.path)/\(file)"))
            for secret in secrets { #expect(data.range(of: Data(secret.utf8)) == nil, "\(file)") }
        }
    }

    @Test("Twenty simultaneous exchanges of one credential return the same valid successor")
    func lostReplies() async throws {
        let code = try await add("till") + "~mine"
        let replies = try await withThrowingTaskGroup(of: WireReply.self) { group in
            for _ in 0..<20 { group.addTask { try await self.refresh(code) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(replies.allSatisfy { $0.status == 200 })
        let successors = Set(replies.map { $0.string("refresh_token") })
        let successor = try #require(successors.first)
        #expect(successors.count == 1)
        #expect(try await refresh(successor).status == 200)
    }

    @Test("A copied credential gets another successor, and the next renewal revokes the device")
    func copies() async throws {
        let kept = try await refresh(try await add("till")).string("refresh_token")
        let mine = try await refresh(kept + "~mine").string("refresh_token")
        let late = try await refresh(kept + "~mine").string("refresh_token")
        #expect(mine == late)
        let copied = try await refresh(kept + "~copied").string("refresh_token")
        #expect(copied != mine)
        #expect(try await refresh(mine + "~next").code == "DEVICE_REVOKED")
        #expect(try await refresh(copied).code == "DEVICE_REVOKED")
        #expect(try await manage("list").text.contains("\trevoked-for-reuse\t"))
    }

    @Test("An exchange that arrives after its successor was used is refused and revokes no device")
    func lateExchanges() async throws {
        var kept = try await refresh(try await add("till")).string("refresh_token")
        // The twelve rounds make 48 exchanges; a device may make 60 at once.
        for number in 0..<12 {
            let shown = "\(kept)~\(number)"
            kept = try await refresh(shown).string("refresh_token")
            let used = try await refresh("\(kept)~\(number + 1)")
            #expect(used.status == 200)
            #expect(try await refresh(shown).code == "UNAUTHORIZED")
            #expect(try await refresh("\(kept)~\(number + 1)").status == 200)
        }
        #expect(try await manage("list").text.contains("\tgood\t"))
    }

    @Test(
        "A code is good once: any later use by another machine is refused and revokes nobody",
        arguments: ["", "~other", "~mine2", "~min", "~"]
    )
    func secondMachine(nonce: String) async throws {
        let code = try await add("till")
        let first = code + "~mine"
        var kept = try await refresh(first).string("refresh_token")
        // The second machine comes before the first one has used its credential, right after that,
        // and after more exchanges than the server remembers. A device may make 60 at once.
        for round in 0..<36 {
            if round < 3 || round > 33 {
                let second = try await refresh(code + nonce)
                #expect(second.status == 401 && second.code == "DEVICE_CODE_USED", "\(round)")
                #expect(second.string("fix").contains("devices renew \(id(of: code))"))
            }
            if round == 0 {
                // The reply to the first machine was lost: its repeat is the same exchange.
                #expect(try await refresh(first).string("refresh_token") == kept)
            }
            let reply = try await refresh("\(kept)~\(round)")
            #expect(reply.status == 200, "\(round)")
            kept = reply.string("refresh_token")
        }
        // The first machine's code is used up too, once its successor was.
        #expect(try await refresh(first).code == "DEVICE_CODE_USED")
        #expect(try await refresh(kept).status == 200)
        #expect(try await manage("list").text.contains("\tgood\t"))
    }

    @Test("A code that was used without a nonce cannot be used again by anybody")
    func withoutNonce() async throws {
        let code = try await add("till")
        let kept = try await refresh(code).string("refresh_token")
        for nonce in ["", "~mine"] {
            #expect(try await refresh(code + nonce).code == "DEVICE_CODE_USED")
        }
        #expect(try await refresh(kept).status == 200)
    }

    @Test("A credential and a token show their user, without an exchange, until the device ends")
    func shownLogin() async throws {
        let code = try await add("till")
        let reply = try await refresh(code + "~mine")
        let (kept, token) = (reply.string("refresh_token") + "~next", reply.string("access_token"))
        for shown in [kept, token, kept] {
            let login = try await wire.get("/auth/login", token: shown)
            #expect(login.status == 200, "\(login.text)")
            #expect(login.string("user_id") == reply.string("user_id"))
        }
        #expect(try await wire.get("/auth/login", token: code).code == "DEVICE_CODE_USED")
        for wrong in ["gotchu-device.", kept.replacing(".", with: ","), token + "x"] {
            #expect(try await wire.get("/auth/login", token: wrong).code == "UNAUTHORIZED")
        }
        #expect(try await wire.get("/auth/login").code == "UNAUTHORIZED")
        // To show a copy revokes nobody; to exchange it does.
        let used = try await refresh(kept).string("refresh_token")
        _ = try await refresh(used)
        #expect(try await wire.get("/auth/login", token: kept).code == "UNAUTHORIZED")
        #expect(try await manage("list").text.contains("\tgood\t"))
        #expect(try await manage("revoke", id(of: code)).code == 0)
        #expect(try await wire.get("/auth/login", token: used).code == "DEVICE_REVOKED")
        // The last token is valid until it expires.
        #expect(try await wire.get("/auth/login", token: token).status == 200)
    }

    @Test("A revocation prints how long the device's last token is still valid")
    func restOfToken() async throws {
        let idle = try await add("idle")
        let none = try await manage("revoke", id(of: idle))
        #expect(none.text.contains("Revoked. It has no valid token."))
        let code = try await add("till")
        #expect(try await refresh(code).integer("expires_in") == 900)
        let text = try await manage("revoke", id(of: code)).text
        let rest = try #require(text.firstMatch(of: #/for another (\d+) min (\d+) s, until /#))
        let seconds = try #require(Int(rest.1)) * 60 + #require(Int(rest.2))
        #expect((600...900).contains(seconds), "\(text)")
    }

    @Test("An operator can revoke a device and enrol it again")
    func revocation() async throws {
        let code = try await add("till")
        let kept = try await refresh(code).string("refresh_token")
        #expect(try await manage("list").text.contains("\tgood\t"))
        #expect(try await manage("revoke", id(of: code)).code == 0)
        #expect(try await refresh(kept).code == "DEVICE_REVOKED")
        #expect(try await refresh(code).code == "DEVICE_REVOKED")
        #expect(try await manage("list").text.contains("\trevoked\t"))
        let renewed = try await manage("renew", id(of: code))
        #expect(renewed.text.contains("sudo gotchu-ctl enrol https://"))
        #expect(try await manage("list").text.contains("\twaiting\t"))
        let fresh = try #require(renewed.text.split(separator: "\n").last.map(String.init))
        #expect(try await refresh(kept).code == "UNAUTHORIZED")
        #expect(try await refresh(fresh).status == 200)
        #expect(try await manage("revoke", "no-such-device").code == 1)
    }

    @Test("A device whose credential is newer than a restored backup can still log in")
    func restored() async throws {
        var credential = try await add("till")
        func use(_ wire: Wire) async throws -> Int {
            let reply = try await wire.post("/auth/token", #"{"refresh_token":"\#(credential)"}"#)
            if reply.status == 200 { credential = reply.string("refresh_token") }
            return reply.status
        }
        #expect(try await use(wire) == 200)
        let copy = try TemporaryFolder()
        let made = try await ServerProcess.run(
            "backup",
            copy.path + "/books.db",
            "--database",
            "sqlite:\(server.path)"
        )
        #expect(made.code == 0, "\(made.text)")
        for _ in 0..<3 { #expect(try await use(wire) == 200) }
        let old = credential
        #expect(try await server.stop() == 0)
        try FileManager.default.copyItem(
            atPath: server.path + ".secret",
            toPath: copy.path + "/books.db.secret"
        )
        let restored = try await ServerProcess(folder: copy, opening: nil)
        #expect(try await use(restored.wire) == 200)
        #expect(try await use(restored.wire) == 200)
        let reused = try await restored.wire.post(
            "/auth/token",
            #"{"refresh_token":"\#(old)"}"#
        )
        #expect(reused.status == 401)
        #expect(try await use(restored.wire) == 401)
    }

    @Test("An invalid credential is refused and affects no device")
    func strangers() async throws {
        let code = try await add("till")
        let parts = code.split(separator: ".")
        let guesses = [
            "", "x", "gotchu-device", "gotchu-device.\(parts[1]).\(parts[2])", code + "x",
            "gotchu-device.\(parts[1]).AAAAAAAAAAAAAAAAAAAAAA.\(parts[3])",
            "gotchu-device.x.\(parts[2]).\(parts[3])", "gotchu-device.\(parts[1])..",
            #"gotchu-device.a\u0000b.\#(parts[2]).\#(parts[3])"#,
            String(repeating: "x", count: 300),
        ]
        for guess in guesses {
            #expect(try await refresh(guess).code == "UNAUTHORIZED", "\(guess)")
        }
        #expect(try await wire.post("/auth/token", "{}").code == "VALIDATION_ERROR")
        #expect(try await refresh(code).status == 200)
    }

    @Test("The server's own tokens expire, and a token with a missing or wrong claim is refused")
    func expiry() async throws {
        #expect(try await server.stop() == 0)
        let shortTokens = try await ServerProcess(
            folder: server.folder,
            opening: nil,
            more: ["--token-seconds", "1"]
        )
        let code = try await add("till")
        let reply = try await shortTokens.wire.post(
            "/auth/token",
            #"{"refresh_token":"\#(code)"}"#
        )
        #expect(reply.integer("expires_in") == 1)
        let token = reply.string("access_token")
        try await eventually("the token expires") {
            try await shortTokens.wire.get("/wallet/me", token: token).status == 401 ? true : nil
        }

        // These tokens are signed by PyJWT with the server's own secret.
        let issuer = try await IssuerProcess()
        let file = URL(fileURLWithPath: server.path + ".secret")
        let secret = try Data(contentsOf: file).base64EncodedString()
        let user = reply.string("user_id")
        func own(_ claims: String) async throws -> Int {
            let made = try await issuer.forge(
                """
                "header":{"alg":"HS256","typ":"JWT"},"by":"secret:\(secret)","claims":{\
                "iss":"gotchu-server","aud":"gotchu-server","sub":"\(user)"\(claims)}
                """
            )
            return try await shortTokens.wire.get("/wallet/me", token: made).status
        }
        #expect(try await own("") == 200)
        #expect(try await own(#","exp":"now-1""#) == 401)
        #expect(try await own(#","exp":null"#) == 401)
        #expect(try await own(#","aud":"gotchu""#) == 401)
        #expect(try await own(#","nbf":"now+9""#) == 401)
    }
}
