import Foundation
import SQLite
import TestSupport
import Testing

/// Tests of the merchant's pages: their content, access to them, and their forms.
@Suite("The merchant's pages")
struct WebPageTests {
    private let server: ServerProcess
    private var wire: Wire { server.wire }

    init() async throws {
        server = try await ServerProcess(opening: 1_000_000, more: Browser.arguments)
    }

    private func browser(_ email: String) async throws -> Browser {
        try await Browser.loggedIn(email, at: server)
    }

    private func token(_ email: String) async throws -> String {
        try await wire.post("/auth/dev-login", #"{"email":"\#(email)"}"#).string("token")
    }

    /// Creates and pays a session; returns its id.
    private func pay(
        _ cents: Int64,
        _ memo: String = "tea",
        to payee: String = "ada@cafe.example",
        by person: String = "payer@x.example"
    ) async throws -> String {
        let created = try await wire.post(
            "/sessions/create",
            #"{"amount_cents":\#(cents),"memo":"\#(memo)"}"#,
            token: try await token(payee)
        )
        let sid = created.string("sid")
        let payer = try await token(person)
        #expect(try await wire.lock(sid, by: payer).status == 200, "\(created.text)")
        let key = UUID().uuidString
        let sent = try await wire.post(
            "/wallet/send",
            #"{"sid":"\#(sid)"}"#,
            token: payer,
            key: key
        )
        #expect(sent.status == 200, "\(sent.text)")
        return sid
    }

    @Test("The shown earnings are reduced by refunds, and not by the merchant's own payments")
    func earnings() async throws {
        let ada = try await browser("ada@cafe.example")
        let empty = try await ada.open("/web/earnings")
        #expect(empty.text.contains("<p>$0.00</p>") && empty.text.contains("Nothing here"))
        let sid = try await pay(1_280, "2 flat whites")
        _ = try await pay(500, "<script>alert(1)</script>")
        // This payment by Ada must not reduce the earnings.
        _ = try await pay(77, to: "bert@x.example", by: "ada@cafe.example")
        let refunded = try await wire.call(
            "POST",
            "/sessions/\(sid)/refund",
            #"{"amount_cents":280}"#,
            token: try await token("ada@cafe.example"),
            key: UUID().uuidString
        )
        #expect(refunded.status == 200)
        for period in ["today", "week", "month", "all"] {
            let page = try await ada.open("/web/earnings?period=\(period)")
            #expect(page.status == 200, "\(page.text)")
            #expect(page.text.components(separatedBy: "<p>$15.00</p>").count == 4, "\(period)")
            #expect(page.text.contains("\u{2212}$2.80") && page.text.contains("2 flat whites"))
            #expect(page.text.contains("&lt;script&gt;") && !page.text.contains("<script>"))
            #expect(!page.text.contains("0.77"))
            if period != "all" {
                #expect(page.text.contains("2 payments, 1 refund of $2.80"), "\(period)")
            }
            // The page has an update interval of 60 seconds for its script, a hidden text with
            // its time, and no automatic reload.
            #expect(page.text.contains("data-seconds=\"60\""), "\(period)")
            #expect(page.text.contains(/status" hidden>As of <time [^>]+>[A-Z][a-z]+ [0-9]+/))
            #expect(!page.text.contains("http-equiv"))
        }
        let past = try await ada.open("/web/earnings?from=2026-01-01&to=2026-01-31&zone=Asia/Tokyo")
        #expect(past.text.contains("Nothing here") && past.text.contains("Asia/Tokyo"))
        // A page without amounts has no chart. The page for an invalid period has the typed date
        // and the navigation.
        #expect(!empty.text.contains("<svg height") && !past.text.contains("<svg height"))
        let turned = try await ada.open("/web/earnings?from=2026-03-02&to=2026-03-01")
        #expect(turned.status == 400 && turned.text.contains("from not after to"))
        #expect(turned.text.contains("name=\"from\" value=\"2026-03-02\""))
        #expect(turned.text.contains("aria-current=\"page\">Earnings</a>"))
        let (dates, number) = ("from and to must be dates", "before must be a whole number")
        for (wrong, status, code, reason) in [
            ("period=decade", 400, "VALIDATION_ERROR", "period must be today"),
            ("from=2026-01-01", 400, "VALIDATION_ERROR", dates),
            ("from=2026-02-30&to=2026-03-01", 400, "VALIDATION_ERROR", dates),
            ("zone=../etc/passwd", 400, "VALIDATION_ERROR", "The time zone must be a name"),
            ("before=0", 400, "VALIDATION_ERROR", number),
            ("before=x", 400, "VALIDATION_ERROR", number),
            ("period=today&period=week", 400, "VALIDATION_ERROR", "period comes twice."),
        ] {
            let page = try await ada.open("/web/earnings?\(wrong)")
            #expect(page.status == status && page.text.contains("<code>\(code)</code>"), "\(wrong)")
            #expect(page.text.contains(reason) && !page.text.contains("$"), "\(wrong)")
        }
    }

    @Test("The list of payments repeats and omits none on its pages while new payments arrive")
    func keyset() async throws {
        let ada = try await browser("ada@cafe.example")
        for number in 1...50 { _ = try await pay(Int64(number), "no. \(number).") }
        var seen: [Int] = []
        var address: String? = "/web/earnings?period=today"
        var next = 51
        while let path = address {
            let page = try await ada.open(path)
            #expect(page.status == 200)
            seen += page.text.matches(of: /no\. ([0-9]+)\./).compactMap { Int($0.output.1) }
            address = page.text.firstMatch(of: /href="([^"]*before=[0-9]+)#list"/)
                .map { String($0.output.1).replacing("&amp;", with: "&") }
            _ = try await pay(Int64(next), "no. \(next).")
            next += 1
        }
        #expect(seen == Array((1...50).reversed()))
        // Each page was followed by one new payment: there were two pages, and no empty third.
        #expect(next == 53)
    }

    @Test("The CSV file has amounts in minor and major units, and a quote before a formula")
    func file() async throws {
        let ada = try await browser("ada@cafe.example")
        _ = try await pay(1_234_50, "＝1+1")
        _ = try await pay(5, #"a \"b\", c"#)
        let file = try await ada.open("/web/earnings.csv?period=month&zone=UTC")
        #expect(file.header("Content-Type") == "text/csv; charset=utf-8")
        let name = file.header("Content-Disposition") ?? ""
        #expect(name.contains(/attachment; filename="gotchu-earnings-[-0-9]+\.csv"/), "\(name)")
        let folder = try TemporaryFolder()
        let path = try folder.write(file.text, to: "file.csv")
        let script =
            """
            import csv, json, sys
            file = open(sys.argv[1], newline='', encoding='utf-8-sig')
            print(json.dumps(list(csv.reader(file))))
            """
        let read = try Program(try await Python.interpreter(), ["-c", script, path])
        #expect(try await read.exitCode() == 0)
        let rows = try JSONDecoder().decode([[String]].self, from: Data(read.text.utf8))
        #expect(rows.count == 3 && rows.allSatisfy { $0.count == 10 })
        #expect(rows[1][5...8] == ["5", "0.05", "", #"a "b", c"#])
        #expect(rows[2][5...8] == ["123450", "1234.50", "", "'＝1+1"])
        #expect(rows[1][2] == "payment" && rows[1][0].hasSuffix("Z"))
    }

    @Test("A refund form that is sent three times refunds once, and an invalid one refunds nothing")
    func refund() async throws {
        let ada = try await browser("ada@cafe.example")
        let path = "/web/payments/\(try await pay(1_280))"
        let page = try await ada.open(path)
        #expect(page.text.contains("$12.80 is left"))
        let key = try #require(page.field("key"))
        let fields = ["amount": "2.80", "key": key]
        for _ in 0..<3 {
            let sent = try await ada.send("\(path)/refund", fields, from: page)
            #expect(sent.status == 303 && sent.location == path, "\(sent.text)")
        }
        let after = try await ada.open(path)
        #expect(after.text.contains("Refunded. This is final."))
        #expect(after.text.contains("$10.00 is left") && after.text.contains("Partly refunded"))
        // The page shows the original amount, the refund and the difference.
        for fact in [
            "<dt>Earnings</dt><dd>$12.80<", "<dt>Refunded</dt><dd>\u{2212}$2.80<",
            "<dt>Kept</dt><dd>$10.00<",
        ] {
            #expect(after.text.contains(fact), "\(fact)")
        }
        #expect(!(try await ada.open(path)).text.contains("This is final."))
        // A used key with another amount, an invalid amount or a missing key refunds nothing.
        let other = try await ada.send(
            "\(path)/refund",
            ["amount": "10.00", "key": key],
            from: page
        )
        #expect(other.status == 422 && other.text.contains("Nothing was refunded"))
        for (amount, status) in [
            ("10.01", 409), ("0", 400), ("-1", 400), ("1e2", 400), ("", 400), ("1.234", 400),
        ] {
            let fields = ["amount": amount, "key": UUID().uuidString]
            let sent = try await ada.send("\(path)/refund", fields, from: page)
            #expect(sent.status == status, "\(amount): \(sent.text)")
            #expect(sent.text.contains("Nothing was refunded"), "\(amount)")
        }
        let keyless = try await ada.send("\(path)/refund", ["amount": "1.00"], from: page)
        #expect(keyless.status == 400)
        #expect(try await ada.open(path).text.contains("$10.00 is left"))
    }

    @Test("A refund or a new device is refused if the login is older than 15 minutes")
    func fresh() async throws {
        let ada = try await browser("ada@cafe.example")
        let path = "/web/payments/\(try await pay(1_280))"
        let page = try await ada.open(path)
        try Connection(path: server.path, mode: .readWrite).execute(
            "UPDATE web_sessions SET authenticated_at = authenticated_at - 900001"
        )
        let fields = ["amount": "1.00", "key": try #require(page.field("key"))]
        let sent = try await ada.send("\(path)/refund", fields, from: page)
        #expect(sent.status == 403 && sent.text.contains("Nothing was done"))
        let stale = try await ada.open(path)
        #expect(stale.field("key") == nil && stale.text.contains("Log in again"))
        #expect(stale.text.contains("/web/login?to=\(path)&fresh=1"))
        let device = ["name": "Front", "key": "x"]
        #expect(try await ada.send("/web/devices", device, from: page).status == 403)
        #expect(try await ada.open(path).text.contains("$12.80</dd>"))
    }

    @Test("Payments, devices and webhooks of other users cannot be seen or changed")
    func others() async throws {
        let sid = try await pay(1_280)
        let ada = try await browser("ada@cafe.example")
        let devices = try await ada.open("/web/devices")
        let added = try await ada.send(
            "/web/devices",
            ["name": "Front", "key": try #require(devices.field("key"))],
            from: devices
        )
        #expect(added.status == 200, "\(added.text)")
        let list = try await ada.open("/web/devices")
        let revoke = try #require(
            list.text.firstMatch(of: /href="(\/web\/devices\/[-0-9a-f]+\/revoke)"/)?.output.1
        )
        let user = try #require(
            try Connection(path: server.path, mode: .readOnly)
                .query("SELECT id FROM users WHERE login = 'ada@cafe.example'") { try $0.text(0) }
                .first
        )
        for (url, more) in [
            ("http://127.0.0.1:9/ada", ["--payee", user]), ("http://127.0.0.1:9/o", []),
        ] {
            let program = try Program(
                "gotchu-server",
                ["webhooks", "add", url, "--dev", "--database", "sqlite:\(server.path)"] + more
            )
            #expect(try await program.exitCode() == 0, "\(program.text)")
        }
        let hooks = try await ada.open("/web/webhooks")
        #expect(hooks.text.contains(":9/ada") && !hooks.text.contains(":9/o"))
        let ids = try Connection(path: server.path, mode: .readOnly)
            .query("SELECT id FROM endpoints") { try $0.text(0) }
        // The payer may see the session, but cannot refund it.
        for email in ["eve@x.example", "payer@x.example"] {
            let eve = try await browser(email)
            let page = try await eve.open("/web/devices")
            #expect(!page.text.contains("Front"))
            #expect(try await eve.open(String(revoke)).status == 404)
            let missing = try await eve.open("/web/payments/\(sid)")
            // The page with status 404 has the usual navigation.
            #expect(missing.status == 404 && missing.text.contains(">Earnings</a>"))
            let fields = ["amount": "1.00", "key": UUID().uuidString]
            for (path, fields) in [
                ("/web/payments/\(sid)/refund", fields), (String(revoke), [:]),
                ("/web/devices/x/revoke", [:]),
            ] + ids.map({ ("/web/webhooks/\($0)/resend", [:]) }) {
                let sent = try await eve.send(path, fields, from: page)
                #expect(sent.status == 404, "\(email) \(path): \(sent.text)")
            }
            #expect(!(try await eve.open("/web/webhooks")).text.contains(":9/"))
        }
        #expect(try await ada.open("/web/devices").text.contains("Waits for its code"))
    }

    @Test("A device that was added can log in until it is revoked")
    func device() async throws {
        let ada = try await browser("ada@cafe.example")
        let page = try await ada.open("/web/devices")
        let fields = ["name": "Front <till>", "key": try #require(page.field("key"))]
        // The form is sent twice. It adds one device, and only the second code is valid.
        let first = try code(try await ada.send("/web/devices", fields, from: page))
        let second = try code(try await ada.send("/web/devices", fields, from: page))
        #expect(try await enrol(with: first).status == 401)
        // With another name or other rights it is not the same form, and changes nothing.
        for (name, value) in [("name", "Other"), ("spend", "yes")] {
            let changed = fields.merging([name: value]) { $1 }
            let other = try await ada.send("/web/devices", changed, from: page)
            #expect(other.status == 409 && !other.text.contains("gotchu-device."), "\(name)")
        }
        let login = try await enrol(with: second)
        #expect(login.status == 200 && login.string("scope") == "payee")
        let again = try await ada.send("/web/devices", fields, from: page)
        #expect(again.status == 409 && !again.text.contains("gotchu-device."))
        let list = try await ada.open("/web/devices")
        #expect(list.text.contains("In use") && list.text.contains("Front &lt;till&gt;"))
        #expect(!list.text.contains("gotchu-device."))
        #expect(list.text.contains(" <span class=\"badge count\">1</span>"))
        let links = list.text.matches(of: /href="(\/web\/devices\/[-0-9a-f]+\/revoke)"/)
        #expect(links.count == 1)
        let revoke = String(try #require(links.first?.output.1))
        // Opening the confirmation page revokes nothing.
        let question = try await ada.open(revoke)
        #expect(question.status == 200 && question.text.contains("Revoke <bdi>Front &lt;till&gt;"))
        #expect(try await ada.open("/web/devices").text.contains("In use"))
        let revoked = try await ada.send(revoke, [:], from: question)
        #expect(revoked.status == 303)
        #expect(try await ada.open("/web/devices").text.contains("Revoked. The device gets no new"))
        #expect(try await ada.open(revoke).status == 404)
        #expect(try await enrol(with: login.string("refresh_token")).status == 401)
    }

    private func code(_ page: BrowserPage) throws -> String {
        let found = page.text.firstMatch(of: /<code class="secret">([^<]+)<\/code>/)
        return String(try #require(found, "\(page.text)").output.1)
    }

    private func enrol(with credential: String) async throws -> WireReply {
        try await wire.post("/auth/token", #"{"refresh_token":"\#(credential)"}"#)
    }

    @Test("The owner of an endpoint can send one or all of its given-up events again")
    func webhooks() async throws {
        let receiver = try await WebhookReceiver()
        let ada = try await browser("ada@cafe.example")
        let added = try await ServerProcess.run(
            "webhooks",
            "add",
            receiver.url("/gone"),
            "--dev",
            "--payee",
            "ada@cafe.example",
            "--database",
            "sqlite:\(server.path)"
        )
        #expect(added.code == 0, "\(added.text)")
        let sid = try await pay(1_280)
        var page = try await givenUp(ada)
        #expect(page.text.contains("Stopped") && page.text.contains(sid))
        // The owner's earnings page shows a badge; another user's earnings page does not.
        let badge = "<span class=\"badge\">"
        #expect(try await ada.open("/web/earnings").text.contains(badge))
        let eve = try await browser("eve@x.example")
        #expect(!(try await eve.open("/web/earnings")).text.contains(badge))
        let path = try #require(
            page.text.firstMatch(of: /action="(\/web\/webhooks\/[^"]+\/resend)"/)?.output.1
        )
        let event = try page.fields(beside: "event")
        // A second given-up event. The first form sends only the first event, and the second all.
        let connection = try Connection(path: server.path, mode: .readWrite)
        try connection.execute(
            "INSERT INTO deliveries SELECT endpoint, 'evt_z', kind, record, owner, at, amount, "
                + "body, attempts, next_try_at, give_up_at, dead_at, 'planted' FROM deliveries"
        )
        for (sent, fields) in [(2, event), (3, [:])] {
            let answer = try await ada.send(String(path), fields, from: page)
            #expect(answer.status == 303 && answer.location == "/web/webhooks")
            let messages = try await receiver.wait(for: sent, at: "/gone")
            #expect(messages.prefix(2).allSatisfy { $0.id == event["event"] })
            page = try await givenUp(ada, 2)
            let other = try connection.query(
                "SELECT last_error FROM deliveries WHERE event = 'evt_z'"
            ) { try $0.text(0) }
            #expect((other == ["planted"]) == (sent == 2), "\(other)")
        }
        let wrong = try await ada.send(String(path), ["event": "evt_x_1"], from: page)
        #expect(wrong.status == 303)
        #expect(try await ada.open("/web/webhooks").text.contains("nothing is sent again"))
    }

    /// Waits until the page of webhooks shows this number of given-up events, and returns the page.
    private func givenUp(_ browser: Browser, _ count: Int = 1) async throws -> BrowserPage {
        try await eventually("the page shows \(count) given-up events") {
            let page = try await browser.open("/web/webhooks")
            return page.text.contains("Send all \(count) again") ? page : nil
        }
    }

    @Test("A refund with an unknown outcome is resolved by a repeat, which refunds once")
    func unresolved() async throws {
        let ada = try await browser("ada@cafe.example")
        let path = "/web/payments/\(try await pay(1_280))"
        let page = try await ada.open(path)
        let fields = ["amount": "2.80", "key": try #require(page.field("key"))]
        let lock = try await Program.locking(server.path)
        let unknown = try await ada.send("\(path)/refund", fields, from: page)
        #expect(unknown.status == 503, "\(unknown.text)")
        #expect(unknown.text.contains("It is not known whether $2.80 was refunded."))
        #expect(!unknown.text.contains("Nothing was"))
        #expect(try unknown.fields(beside: "key") == fields)
        lock.signal(SIGKILL)
        _ = try await lock.exitCode()
        let known = try await ada.send("\(path)/refund", fields, from: unknown)
        #expect(known.status == 303 && known.location == path, "\(known.text)")
        // A repeat of a decided refund gets the same answer, even if the login is too old for a
        // new refund.
        try Connection(path: server.path, mode: .readWrite).execute(
            "UPDATE web_sessions SET authenticated_at = authenticated_at - 900001"
        )
        #expect(try await ada.send("\(path)/refund", fields, from: unknown).status == 303)
        #expect(try await ada.open(path).text.contains("$10.00 is left"))
    }
}
