import Foundation
import SQLite
import TestSupport
import Testing

/// Tests of logins at an OpenID provider: valid logins, and attempts to misuse another's login.
@Suite("Logins to the pages")
struct WebLoginTests {
    private static let origin = "https://pay.example"
    private static let earnings = "/web/earnings?period=week"

    private let issuer: IssuerProcess
    private let server: ServerProcess

    init() async throws {
        issuer = try await IssuerProcess()
        server = try await ServerProcess(opening: nil, more: Self.arguments(issuer))
    }

    private static func arguments(_ issuer: IssuerProcess) -> [String] {
        [
            "--oidc-issuer", issuer.wire.base, "--oidc-audience", "gotchu",
            "--oidc-jwks", issuer.keys, "--oidc-client-id", "shop pages", "--web",
            "--public-url", origin,
        ]
    }

    private func browser() -> Browser { Browser(server, origin: Self.origin) }

    /// Begins a login, opens the provider's page, and returns the callback's path and query.
    private func answer(
        _ browser: Browser,
        to path: String = earnings,
        fresh: String = ""
    ) async throws -> String {
        let begin = "/web/login/begin?to=\(Browser.escaped(path))\(fresh)"
        let begun = try await browser.open(begin)
        #expect(begun.status == 303, "\(begun.text)")
        let provider = try #require(begun.location)
        #expect(provider.hasPrefix(issuer.wire.base + "/authorize?tenant=1&response_type=code"))
        let there = try await Browser(issuer.wire).open(
            String(provider.dropFirst(issuer.wire.base.count))
        )
        let back = try #require(there.location)
        #expect(back.hasPrefix(Self.origin + "/web/login/callback?"))
        return String(back.dropFirst(Self.origin.count))
    }

    private static let back = ["Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"]

    private func loggedIn() async throws -> Browser {
        let browser = browser()
        let begun = try await browser.open(try await answer(browser), headers: Self.back)
        #expect(begun.status == 303 && begun.location == Self.earnings, "\(begun.text)")
        return browser
    }

    private func person(_ claims: String) async throws {
        try await issuer.act(#"{"op":"set","person":\#(claims)}"#)
    }

    /// Expects that a callback starts no session.
    private func expectRefused(
        _ browser: Browser,
        _ answer: String,
        _ what: Comment,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let page = try await browser.open(answer, headers: Self.back)
        #expect(page.status == 401, what, sourceLocation: sourceLocation)
        #expect(browser.cookies["__Host-gotchu"] == nil, what, sourceLocation: sourceLocation)
        let earnings = try await browser.open("/web/earnings")
        #expect(earnings.status == 303, what, sourceLocation: sourceLocation)
    }

    @Test("A login is stored with the provider's issuer and subject, and ends with a logout")
    func login() async throws {
        try await person(#"{"sub":"anna","name":"Corner Cafe"}"#)
        let stranger = browser()
        let sent = try await stranger.open(Self.earnings)
        let login = try await stranger.open(try #require(sent.location))
        #expect(login.text.contains("/web/login/begin?to=/web/earnings%3Fperiod%3Dweek"))
        let browser = try await loggedIn()
        #expect(Set(browser.cookies.keys) == ["__Host-gotchu"])
        let page = try await browser.open(Self.earnings)
        #expect(page.status == 200 && page.text.contains("<bdi>Corner Cafe</bdi>"))
        let connection = try Connection(path: server.path, mode: .readWrite)
        let logins = try connection.query("SELECT login FROM users") { try $0.text(0) }
        #expect(logins == ["<\(issuer.wire.base)>anna"])
        let held = try connection.query("SELECT scopes FROM web_sessions") { try $0.text(0) }
        #expect(held == ["openid payee payer"])
        let out = try await browser.send("/web/logout", [:], from: page)
        #expect(out.status == 303)
        #expect(try await browser.open(Self.earnings).status == 303)
    }

    @Test("A login for a payment page asks for the payer's scope, and one for the wallet for both")
    func payer() async throws {
        try await issuer.act(#"{"op":"set","granted":null}"#)
        for (path, scopes) in [
            ("/p/0123456789", "openid profile payer"),
            ("/web/wallet", "openid profile payee payer"),
        ] {
            let browser = browser()
            let asked = try await browser.open("/web/login/begin?to=\(Browser.escaped(path))")
            let query = URLComponents(string: asked.location ?? "")?.queryItems ?? []
            #expect(query.first { $0.name == "scope" }?.value == scopes, "\(asked.text)")
            // The session has the same scopes, because the provider grants what it is asked for.
            let begun = try await browser.open(try await answer(browser, to: path))
            #expect(begun.location == path, "\(begun.text)")
            let connection = try Connection(path: server.path, mode: .readOnly)
            let held = try connection.query("SELECT scopes FROM web_sessions ORDER BY used_at") {
                try $0.text(0)
            }
            #expect(held.last == scopes)
        }
    }

    @Test("A provider's answer that is changed, or belongs to another browser, starts no session")
    func state() async throws {
        let browser = browser()
        let answer = try await answer(browser)
        for wrong in [
            answer.replacing(/state=[^&]*/, with: "state=x"),
            answer.replacing(/state=[^&]*&/, with: ""), answer + "&state=x", answer + "&code=y",
            answer.replacing(/iss=[^&]*/, with: "iss=https%3A%2F%2Fevil.example"),
            answer.replacing(/code=[^&]*/, with: "code=x"),
            answer.replacing(/code=[^&]*&/, with: "error=access_denied&"),
        ] {
            try await expectRefused(browser, wrong, "\(wrong)")
        }
        // A victim's browser opens the attacker's callback, without and with a login in progress.
        let victim = self.browser()
        try await expectRefused(victim, answer, "no login")
        _ = try await self.answer(victim)
        try await expectRefused(victim, answer, "another login")
        #expect(try await browser.open(answer, headers: Self.back).status == 303)
    }

    @Test("A provider's answer that is sent twice starts no second session")
    func replay() async throws {
        let browser = browser()
        let answer = try await answer(browser)
        let copy = browser.copy(at: server)
        #expect(try await browser.open(answer, headers: Self.back).status == 303)
        try await expectRefused(copy, answer, "the provider refuses the code")
        // Even a code that the provider accepts starts no session: the login was already used.
        let other = try await self.answer(self.browser())
        let code = try #require(other.firstMatch(of: /code=([^&]*)/)?.output.1)
        try await issuer.act(#"{"op":"adopt","code":"\#(code)","of":"\#(answer)"}"#)
        let again = answer.replacing(/code=[^&]*/, with: "code=\(code)")
        try await expectRefused(copy, again, "the login was used")
    }

    @Test(
        "An ID token with a wrong or missing claim starts no session",
        arguments: [
            #"{"nonce":"x"}"#, #"{"nonce":null}"#, #"{"aud":"gotchu"}"#, #"{"aud":"other"}"#,
            #"{"aud":["shop pages","other"]}"#, #"{"azp":"other"}"#, #"{"aud":[]}"#,
            #"{"iss":"https://issuer.example"}"#, #"{"exp":"now-60"}"#, #"{"iat":"now-900"}"#,
            #"{"iat":null}"#, #"{"sub":null}"#, #"{"sub":""}"#, #"{"auth_time":"x"}"#,
        ]
    )
    func token(claims: String) async throws {
        try await person(claims)
        let browser = browser()
        try await expectRefused(browser, try await answer(browser), "\(claims)")
    }

    @Test("A login that must be fresh requires a recent authentication by the provider")
    func fresh() async throws {
        try await person(#"{"sub":"anna","auth_time":"now-9000"}"#)
        let browser = browser()
        let stale = try await answer(browser, fresh: "&fresh=1")
        try await expectRefused(browser, stale, "an old login")
        try await person(#"{"sub":"anna","auth_time":null}"#)
        try await expectRefused(browser, try await answer(browser, fresh: "&fresh=1"), "no time")
        try await person(#"{"sub":"anna"}"#)
        let answer = try await answer(browser, fresh: "&fresh=1")
        #expect(try await browser.open(answer, headers: Self.back).status == 303)
    }

    @Test("A session cookie that is changed, renamed or sent twice is ignored")
    func cookies() async throws {
        let browser = try await loggedIn()
        let good = try #require(browser.cookies["__Host-gotchu"])
        for text in [
            "", "x", ".", "\(good)x", String(good.dropLast()), "x\(good)",
            good.split(separator: ".")[0] + ".", "gotchu", "\(good)=", "a.b.c",
            String(repeating: "A", count: 5_000),
        ] {
            browser.cookies["__Host-gotchu"] = text
            #expect(try await browser.open("/web/earnings").status == 303, "\(text.prefix(50))")
        }
        browser.cookies = ["gotchu": good]
        #expect(try await browser.open("/web/earnings").status == 303)
        browser.cookies = ["__Host-gotchu": good]
        #expect(try await browser.open("/web/earnings").status == 200)
        let twice = ["Cookie": "__Host-gotchu=\(good); __Host-gotchu=\(good)"]
        #expect(try await browser.open("/web/earnings", headers: twice).status == 303)
    }

    @Test(
        "A client secret in a private file is sent to the issuer; a file open to others is refused"
    )
    func secret() async throws {
        try await issuer.act(#"{"op":"set","secret":"s3cret:%&"}"#)
        let browser = browser()
        try await expectRefused(browser, try await answer(browser), "no secret")
        let folder = try TemporaryFolder()
        let path = try folder.write("s3cret:%&\n", to: "secret")
        #expect(chmod(path, 0o600) == 0)
        let arguments = Self.arguments(issuer) + ["--oidc-client-secret-file", path]
        let other = try await ServerProcess(opening: nil, more: arguments)
        let theirs = Browser(other, origin: Self.origin)
        let answer = try await answer(theirs)
        #expect(try await theirs.open(answer, headers: Self.back).status == 303)
        #expect(!other.program.text.contains("s3cret"))
        #expect(chmod(path, 0o644) == 0)
        let program = try Program(
            "gotchu-server",
            ["--database", "sqlite:\(folder.path)/b.db"] + arguments
        )
        #expect(try await program.exitCode() == 78)
        #expect(program.text.contains("Others than its owner may read it"), "\(program.text)")
    }

    @Test(
        "An invalid description of the provider makes the login page answer with 503",
        arguments: [
            #"{"issuer":"https://evil.example"}"#, #"{"token_endpoint":"http://evil.example/t"}"#,
            #"{"authorization_endpoint":"javascript:alert(1)"}"#,
            #"{"authorization_endpoint":"https://a.example/\r\nX: 1"}"#,
            #"{"code_challenge_methods_supported":["plain"]}"#, #"{"token_endpoint":7}"#,
        ]
    )
    func description(change: String) async throws {
        try await issuer.act(#"{"op":"set","description":\#(change)}"#)
        let page = try await browser().open("/web/login/begin?to=/web/earnings")
        #expect(page.status == 503 && page.text.contains("TRY_AGAIN"), "\(page.text)")
        #expect(page.header("Retry-After") == "5")
    }
}
