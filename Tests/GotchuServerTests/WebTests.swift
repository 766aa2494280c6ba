import Foundation
import SQLite
import TestSupport
import Testing

/// Tests of access to the pages, their headers and their forms.
@Suite("Pages for browsers")
struct WebTests {
    private let server: ServerProcess

    init() async throws {
        server = try await ServerProcess(more: Browser.arguments)
    }

    private func loggedIn(
        _ email: String = "ada@cafe.example",
        for path: String = "/web/earnings"
    ) async throws -> Browser {
        try await Browser.loggedIn(email, at: server, for: path)
    }

    @Test("A visitor without a login is led to the login page, and back after the login")
    func login() async throws {
        let browser = Browser(server)
        let sent = try await browser.open("/web/earnings?period=week")
        #expect(sent.status == 303)
        #expect(sent.location == "/web/login?to=/web/earnings%3Fperiod%3Dweek")
        let login = try await browser.open(try #require(sent.location))
        #expect(login.status == 200 && login.title == "Log in")
        let target = try #require(login.field("to"))
        let begun = try await browser.send(
            "/web/login/dev",
            ["email": "ada@cafe.example", "to": target]
        )
        #expect(begun.location == "/web/earnings?period=week")
        let page = try await browser.open(try #require(begun.location))
        #expect(page.status == 200 && page.title == "Earnings")
        #expect(page.text.contains("<bdi>ada</bdi>"))
        #expect(try await browser.open("/").location == "/web")
        #expect(try await browser.open("/web").location == "/web/earnings")
    }

    @Test("A user who has logged in to pay can open the wallet, and no page of merchants")
    func payer() async throws {
        let browser = try await loggedIn(for: "/p/0123456789")
        #expect(try await browser.open("/web").location == "/web/wallet")
        let wallet = try await browser.open("/web/wallet")
        let links = wallet.text.matches(of: /<a href="(\/web\/[a-z]+)"/).map(\.output.1)
        #expect(wallet.status == 200 && links == ["/web/wallet"])
        for path in ["earnings", "earnings.csv", "devices", "webhooks", "payments/x"] {
            let sent = try await browser.open("/web/\(path)")
            #expect(sent.location == "/web/login?to=/web/\(path)", "\(path)")
        }
        let login = try await browser.open("/web/login?to=/web/earnings")
        #expect(login.text.contains("Your login is for payments only."))
        #expect(!(try await browser.open("/web/login")).text.contains("payments only"))
        for path in ["payments/x/refund", "devices", "devices/x/revoke", "webhooks/x/resend"] {
            let sent = try await browser.send("/web/\(path)", [:], from: wallet)
            #expect(sent.status == 403 && sent.text.contains("does not allow"), "\(path)")
        }
    }

    @Test(
        "A login whose target is not an allowed page leads to /web",
        arguments: [
            "https://evil.example/", "//evil.example", "/\\evil.example", "/web\\..",
            "javascript:1",
            "/web/login", "/web/logout", "/webx\r\nX: 1", "",
        ]
    )
    func target(text: String) async throws {
        let browser = Browser(server)
        let begun = try await browser.send("/web/login/dev", ["email": "a@b.example", "to": text])
        #expect(begun.status == 303 && begun.location == "/web")
    }

    @Test("The earnings page has the security headers, and the three files that it links to exist")
    func headers() async throws {
        let browser = try await loggedIn()
        let page = try await browser.open("/web/earnings")
        let policy = page.header("Content-Security-Policy") ?? ""
        #expect(policy.contains("default-src 'none'") && policy.contains("form-action 'self'"))
        #expect(page.header("Referrer-Policy") == "same-origin")
        #expect(page.header("X-Content-Type-Options") == "nosniff")
        #expect(page.header("Cache-Control") == "no-store")
        #expect(page.header("Content-Type") == "text/html; charset=utf-8")
        let assets = page.text.matches(of: /href="(\/assets\/[^"]+)"/).map { String($0.output.1) }
        #expect(assets.count == 3)
        for path in assets {
            let asset = try await browser.open(path)
            #expect(asset.status == 200)
            #expect(asset.header("Cache-Control")?.contains("immutable") == true)
        }
        #expect(try await browser.open("/assets/tokens.0000000000000000.css").status == 404)
    }

    @Test("A request with another Host or from another site is refused, but a followed link is not")
    func strangers() async throws {
        let browser = try await loggedIn()
        for headers in [
            ["Host": "evil.example"], ["Host": "127.0.0.1"], ["Host": "localhost:7777"],
            ["Sec-Fetch-Site": "cross-site"], ["Sec-Fetch-Site": "same-site"],
            ["Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"],
        ] {
            let page = try await browser.open("/web/earnings", headers: headers)
            #expect(page.status == 403 && page.text.contains("FORBIDDEN"), "\(headers)")
            #expect(page.title == "This cannot be done")
        }
        let link = ["Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"]
        #expect(try await browser.open("/web/earnings", headers: link).status == 200)
    }

    @Test("A logout form without the session's token, or from another origin, changes nothing")
    func forms() async throws {
        let browser = try await loggedIn()
        let page = try await browser.open("/web/earnings")
        let token = try #require(page.formToken)
        for headers in [
            ["Origin": "null"], ["Origin": "https://evil.example"],
            ["Origin": "\(Browser.usualOrigin)0"],
            ["Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"],
        ] {
            let sent = try await browser.send("/web/logout", [:], from: page, headers: headers)
            #expect(sent.status == 403, "\(headers)")
        }
        let silent = try await browser.send(
            "POST",
            "/web/logout",
            "form_token=\(Browser.escaped(token))",
            [:]
        )
        #expect(silent.status == 403)
        let other = try await loggedIn("bert@other.example")
        let foreign = try await other.open("/web/earnings")
        for fields in [
            [:], ["form_token": ""], ["form_token": "x"],
            ["form_token": try #require(foreign.formToken)],
        ] {
            let sent = try await browser.send("/web/logout", fields)
            #expect(sent.status == 403 && sent.text.contains("Nothing was done"), "\(fields)")
        }
        let json = try await browser.send(
            "/web/logout",
            ["form_token": token],
            headers: ["Content-Type": "application/json"]
        )
        #expect(json.status == 415)
        #expect(try await browser.open("/web/earnings").status == 200)
    }

    @Test("A logout ends the session, also for a copy of its cookie")
    func logout() async throws {
        let browser = try await loggedIn()
        let copy = browser.copy(at: server)
        let page = try await browser.open("/web/earnings")
        let out = try await browser.send("/web/logout", [:], from: page)
        #expect(out.status == 303 && out.location == "/web/login")
        #expect(browser.cookies["gotchu"] == nil)
        #expect(try await browser.open("/web/login").text.contains("Logged out"))
        #expect(try await copy.open("/web/earnings").location?.hasPrefix("/web/login") == true)
        let late = try await copy.send("/web/logout", [:], from: page)
        #expect(late.status == 401 && late.text.contains("This form did nothing"))
    }

    @Test("A session ends half an hour after its last use or at its expiry")
    func idle() async throws {
        let browser = try await loggedIn()
        let cookie = try #require(browser.cookies["gotchu"])
        let connection = try Connection(path: server.path, mode: .readWrite)
        let columns = "hex(id) || hex(user_id) || hex(user_name) || hex(scopes)"
        let held = try connection.query("SELECT \(columns) FROM web_sessions") { try $0.text(0) }
        // The cookie begins with the token in Base64URL. The database has neither its text nor its
        // bytes.
        let text = String(try #require(cookie.split(separator: ".").first))
        let base64 = text.replacing("-", with: "+").replacing("_", with: "/") + "="
        let token = try #require(Data(base64Encoded: base64))
        for secret in [token, Data(text.utf8)] {
            let hex = secret.map { String(format: "%02X", $0) }.joined()
            #expect(held.count == 1 && !held[0].contains(hex))
        }
        try connection.execute("UPDATE web_sessions SET used_at = used_at - 1700000")
        #expect(try await browser.open("/web/earnings").status == 200)
        // The request above counts as a use, so the half hour starts again.
        try connection.execute("UPDATE web_sessions SET used_at = used_at - 1700000")
        #expect(try await browser.open("/web/earnings").status == 200)
        try connection.execute("UPDATE web_sessions SET used_at = used_at - 1800001")
        #expect(try await browser.open("/web/earnings").status == 303)
        // An automatic request of a page does not count as a use.
        let background = ["Sec-Fetch-Dest": "empty", "Sec-Fetch-Site": "same-origin"]
        let third = try await loggedIn()
        try connection.execute("UPDATE web_sessions SET used_at = used_at - 1700000")
        #expect(try await third.open("/web/earnings", headers: background).status == 200)
        try connection.execute("UPDATE web_sessions SET used_at = used_at - 1700000")
        #expect(try await third.open("/web/earnings", headers: background).status == 303)
        let other = try await loggedIn()
        try connection.execute("UPDATE web_sessions SET expires_at = used_at")
        #expect(try await other.open("/web/earnings").status == 303)
        // A login removes expired sessions.
        _ = try await loggedIn()
        #expect(
            try connection.query("SELECT count(*) FROM web_sessions") { try $0.integer(0) } == [1]
        )
    }

    @Test("A problem is shown as a page with the HTTP status and the request's id")
    func problems() async throws {
        let browser = try await loggedIn()
        for (method, path, status) in [
            ("GET", "/web/nothing", 404), ("PUT", "/web/earnings", 405), ("GET", "/p/x/y", 404),
            ("GET", "/web/logout", 405),
        ] {
            let page = try await browser.send(method, path, nil, ["Origin": Browser.usualOrigin])
            #expect(page.status == status, "\(path)")
            let id = try #require(page.header("X-Request-ID"))
            #expect(page.text.contains("<code>\(id)</code>"), "\(path)")
            #expect(page.header("Content-Security-Policy") != nil)
        }
        // The API still answers in JSON.
        #expect(try await server.wire.get("/nothing").code == "NOT_FOUND")
    }
}

@Suite("Settings of the pages")
struct WebSettingTests {
    private func run(_ arguments: [String]) async throws -> (code: Int32, text: String) {
        let folder = try TemporaryFolder()
        let options = ["--database", "sqlite:\(folder.path)/books.db", "--listen", "127.0.0.1:0"]
        let program = try Program("gotchu-server", options + arguments)
        return (try await program.exitCode(), program.text)
    }

    @Test(
        "A --dev server with pages refuses a public URL that is missing, malformed or not loopback"
    )
    func addresses() async throws {
        for (arguments, code, text) in [
            (["--dev", "--web"], 64, "--public-url"),
            (["--dev", "--web", "--public-url", "http://pay.example"], 64, "https://HOST"),
            (["--dev", "--web", "--public-url", "https://pay.example/shop"], 64, "https://HOST"),
            (["--dev", "--web", "--public-url", "https://u@pay.example"], 64, "https://HOST"),
            (["--dev", "--web", "--public-url", "pay.example"], 64, "https://HOST"),
            (["--dev", "--web", "--public-url", "https://pay.example"], 78, "loopback"),
        ] as [([String], Int32, String)] {
            let ended = try await run(arguments)
            #expect(ended.code == code, "\(arguments): \(ended.text)")
            #expect(ended.text.contains(text), "\(arguments): \(ended.text)")
        }
    }

    @Test("A server without --web has no pages")
    func off() async throws {
        let server = try await ServerProcess()
        for path in ["/web", "/web/earnings", "/web/login", "/p/0123456789"] {
            #expect(try await server.wire.get(path).code == "NOT_FOUND", "\(path)")
        }
    }
}
