import Foundation
import SQLite
import TestSupport
import Testing

/// Tests of tokens from a third-party library: valid tokens and known kinds of forgeries.
@Suite("OpenID tokens")
struct IdentityTests {
    private let issuer: IssuerProcess
    private let server: ServerProcess
    private var wire: Wire { server.wire }

    init() async throws {
        issuer = try await IssuerProcess()
        server = try await ServerProcess(opening: nil, more: issuer.arguments)
    }

    private func status(_ token: String) async throws -> Int {
        try await wire.get("/wallet/me", token: token).status
    }

    @Test("A token of each kind of key is valid, and a subject always gets the same wallet")
    func good() async throws {
        var wallets: Set<String> = []
        for key in ["rsa", "pss", "p256", "p384", "ed"] {
            let token = try await issuer.token(#""key":"\#(key)""#)
            let wallet = try await wire.get("/wallet/me", token: token)
            #expect(wallet.status == 200, "\(key): \(wallet.text)")
            #expect(wallet.integer("available_cents") == 0)
            wallets.insert(wallet.string("wallet_id"))
        }
        #expect(wallets.count == 1)
        let other = try await issuer.token(#""claims":{"sub":"bert"}"#)
        let wallet = try await wire.get("/wallet/me", token: other).string("wallet_id")
        #expect(!wallet.isEmpty && !wallets.contains(wallet))
        // Only the subject selects the wallet; the e-mail address does not.
        let trick = try await issuer.token(#""claims":{"sub":"x","email":"anna"}"#)
        #expect(
            !wallets.contains(try await wire.get("/wallet/me", token: trick).string("wallet_id"))
        )
    }

    @Test("Scopes decide the rights, and payers see the name without control characters or domain")
    func scopes() async throws {
        let payee = try await issuer.token(
            #""claims":{"sub":"shop","scope":"payee","name":"Corner\u001b\u202e\u2066 Cafe@a.ex"}"#
        )
        let created = try await wire.create(payee, cents: 5)
        #expect(created.status == 200)
        let eid = created.string("eid")
        let shown = try await wire.post("/sessions/resolve", #"{"eid":"\#(eid)"}"#)
        #expect((shown.members["payee_display"] as? [String: String])?["name"] == "Corner Cafe")
        let sid = created.string("sid")
        #expect(try await wire.lock(sid, by: payee).code == "FORBIDDEN")
        let payer = try await issuer.token(#""claims":{"scope":"openid payer"}"#)
        #expect(try await wire.lock(sid, by: payer).status == 200)
        #expect(try await wire.create(payer, cents: 5).code == "FORBIDDEN")
        let other = try await issuer.token(#""claims":{"scope":"payers payee.read"}"#)
        #expect(try await wire.lock(sid, by: other).code == "FORBIDDEN")
        let none = try await issuer.token(#""claims":{"scope":null}"#)
        #expect(try await wire.create(none, cents: 5).code == "FORBIDDEN")
        #expect(try await status(none) == 200)
    }

    @Test("Tokens of the issuer with unusual but permitted claims and headers are valid")
    func unusual() async throws {
        for members in [
            #""claims":{"aud":["other","gotchu"]}"#, #""claims":{"nbf":"now-5"}"#,
            #""claims":{"nbf":"now+20"}"#, #""claims":{"exp":"now-20"}"#,
            #""claims":{"iat":null}"#, #""headers":{"typ":"at+jwt"}"#,
            #""claims":{"more":{"nested":[1,{"a":2}]}}"#,
        ] {
            let token = try await issuer.token(members)
            #expect(try await status(token) == 200, "\(members)")
        }
    }

    @Test("A token with a wrong issuer, audience, time, subject, key or header is refused")
    func bad() async throws {
        for members in [
            #""claims":{"iss":"https://issuer.example/"}"#, #""claims":{"iss":null}"#,
            #""claims":{"iss":"gotchu-server"}"#, #""claims":{"aud":"other"}"#,
            #""claims":{"aud":["other","GOTCHU"]}"#, #""claims":{"aud":[]}"#,
            #""claims":{"aud":null}"#, #""claims":{"exp":"now-60"}"#, #""claims":{"exp":null}"#,
            #""claims":{"exp":1e99}"#, #""claims":{"exp":-1}"#, #""claims":{"nbf":"now+90"}"#,
            #""claims":{"iat":"now+90"}"#, #""claims":{"sub":null}"#, #""claims":{"sub":""}"#,
            #""claims":{"sub":"anna\u0000bert"}"#, #""claims":{"sub":"anna bert"}"#,
            #""key":"stranger""#, #""key":"stranger","kid":"p256""#, #""key":"rsa","kid":"p256""#,
            #""key":"p256","kid":"rsa""#, #""key":"rsa","alg":"RS512""#,
            #""key":"rsa","alg":"PS256""#, #""key":"short""#, #""kid":"""#,
            #""headers":{"jku":"http://127.0.0.1:1/x"}"#, #""headers":{"jwk":{"kty":"EC"}}"#,
            #""headers":{"x5c":["AA"]}"#, #""headers":{"typ":"logout+jwt"}"#,
            #""headers":{"crit":["exp"]}"#,
        ] {
            try await expectRefused(try await issuer.token(members), "\(members)")
        }
    }

    @Test("The authorization scheme must be Bearer, in upper or lower case")
    func scheme() async throws {
        let good = try await issuer.token()
        for (value, status) in [
            ("Bearer \(good)", 200), ("bEARER  \(good)", 200), ("Bearer", 401), ("Bearer ", 401),
            ("Bearer\(good)", 401), ("Bearerx \(good)", 401), ("Basic \(good)", 401), (good, 401),
        ] {
            let reply = try await wire.call("GET", "/wallet/me", headers: ["Authorization": value])
            #expect(reply.status == status, "\(value.prefix(12))")
        }
    }

    @Test("Forged and malformed tokens are refused with the same message")
    func forgeries() async throws {
        let key = #""header":{"alg":"ES256","kid":"p256","typ":"JWT"},"by":"p256""#
        // A token from `forge` is valid if it is signed with the issuer's key.
        #expect(try await status(try await issuer.forge(key)) == 200)
        let now = Int(Date().timeIntervalSince1970)
        let whole =
            #"\"iss\":\"https://issuer.example\",\"aud\":\"gotchu\",\"exp\":\#(now + 300)"#
        let forged = [
            #""header":{"alg":"none","kid":"p256"},"by":"nobody""#,
            #""header":{"alg":"None"},"by":"nobody""#,
            #""header":{"alg":"ES256","kid":"p256"},"by":"nobody""#,
            #""header":{"alg":"HS256","kid":"rsa"},"by":"public:rsa""#,
            #""header":{"alg":"HS256","kid":"p256"},"by":"public:p256""#,
            #""header":{"alg":"ES256","kid":"p256"},"by":"public:p256""#,
            #""header":{"alg":"HS256","kid":"secret"},"by":"secret:\#(Self.publishedSecret)""#,
            #""header":{"alg":"HS256"},"by":"secret:\#(Self.publishedSecret)""#,
            #""header":{"alg":"ES256"},"by":"p256""#,
            #""header":{"alg":["ES256"],"kid":"p256"},"by":"p256""#,
            #""header":{"alg":"ES256","kid":["p256"]},"by":"p256""#,
            #""header":"{\"alg\":\"none\",\"alg\":\"ES256\",\"kid\":\"p256\"}","by":"p256""#,
            "\(key),\"payload\":\"{\\\"sub\\\":\\\"anna\\\",\\\"sub\\\":\\\"bert\\\",\(whole)}\"",
            "\(key),\"payload\":\"{\\\"sub\\\":7,\(whole)}\"",
            "\(key),\"payload\":\"[]\"", "\(key),\"payload\":\"{}x\"",
        ]
        for members in forged {
            let token = try await issuer.forge(members)
            try await expectRefused(token, "\(members)")
        }
        let good = try await issuer.token()
        let parts = good.split(separator: ".").map(String.init)
        let large = try await issuer.token(
            #""claims":{"x":"\#(String(repeating: "x", count: 7_000))"}"#
        )
        for token in [
            "", "x", "..", "\(parts[0]).\(parts[1])", "\(parts[0]).\(parts[1]).", good + "=",
            good + ".x", good.dropLast(3) + "AAA", large, "\(parts[0])..\(parts[2])",
            "\(parts[0]).\(parts[1]) .\(parts[2])",
        ] {
            try await expectRefused(String(token), "\(token.prefix(40))")
        }
        #expect(try await status(good) == 200)
    }

    private static let publishedSecret =
        Data(repeating: UInt8(ascii: "k"), count: 32).base64EncodedString()

    private func expectRefused(
        _ token: String,
        _ what: Comment? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let reply = try await wire.get("/wallet/me", token: token)
        #expect(reply.status == 401, what, sourceLocation: sourceLocation)
        #expect(reply.code == "UNAUTHORIZED", what, sourceLocation: sourceLocation)
        #expect(reply.headers["www-authenticate"] == "Bearer", sourceLocation: sourceLocation)
        #expect(
            reply.string("detail") == "The call needs a valid bearer token.",
            sourceLocation: sourceLocation
        )
    }

    @Test(
        "A till of an issuer's subject uses the subject's wallet; an unknown subject gets no till"
    )
    func till() async throws {
        let token = try await issuer.token()
        let wallet = try await wire.get("/wallet/me", token: token).string("wallet_id")
        func add(_ subject: String) async throws -> (code: Int32, text: String) {
            try await ServerProcess.run(
                "devices",
                "add",
                "till",
                "--user",
                "<\(IssuerProcess.name)>\(subject)",
                "--database",
                "sqlite:\(server.path)"
            )
        }
        let made = try await add("anna")
        #expect(made.code == 0, "\(made.text)")
        let code = try #require(made.text.split(separator: "\n").last)
        let login = try await wire.post("/auth/token", #"{"refresh_token":"\#(code)"}"#)
        let access = login.string("access_token")
        #expect(try await wire.get("/wallet/me", token: access).string("wallet_id") == wallet)
        #expect(try await add("Anna").code == 1)
    }

    @Test("A user who is missing in the database gets TRY_AGAIN once, and then a new wallet")
    func lost() async throws {
        let token = try await issuer.token()
        let first = try await wire.get("/wallet/me", token: token)
        #expect(first.status == 200)
        try Connection(path: server.path, mode: .readWrite)
            .execute("DELETE FROM accounts; DELETE FROM names; DELETE FROM users")
        let lost = try await wire.get("/wallet/me", token: token)
        #expect(lost.code == "TRY_AGAIN", "\(lost.text)")
        let anew = try await wire.get("/wallet/me", token: token)
        #expect(anew.status == 200, "\(anew.text)")
        #expect(anew.string("wallet_id") != first.string("wallet_id"))
    }

    @Test("A server with an issuer has no development logins, and its keys can come from a file")
    func file() async throws {
        #expect(
            try await wire.post("/auth/dev-login", #"{"email":"a@b.example"}"#).status == 404
        )
        let folder = try TemporaryFolder()
        let keys = try await issuer.act(#"{"op":"keys"}"#).text
        let path = try folder.write(keys, to: "keys.json")
        let database = "sqlite:\(folder.path)/books.db"
        let other = try await ServerProcess(
            opening: nil,
            environment: [
                "GOTCHU_SERVER_OIDC_ISSUER": IssuerProcess.name, "GOTCHU_SERVER_DATABASE": database,
                "GOTCHU_SERVER_OIDC_AUDIENCE": "gotchu", "GOTCHU_SERVER_OIDC_JWKS": path,
            ]
        )
        let token = try await issuer.token()
        #expect(try await other.wire.get("/wallet/me", token: token).status == 200)
        // The option --database overrides the variable, so this file does not exist.
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/books.db"))
    }
}
