import Foundation
import NIOHTTP1
import TestSupport
import Testing

/// Tests of the payer's pages in a browser without scripts.
@Suite("The payer's pages")
struct PayPageTests {
    private let server: ServerProcess
    private var wire: Wire { server.wire }
    private let payee: String

    init() async throws {
        server = try await ServerProcess(more: Browser.arguments)
        payee = try await server.wire.login("corner.cafe")
    }

    /// Returns a browser of a user who has logged in.
    private func browser(_ name: String = "payer") async throws -> Browser {
        try await Browser.loggedIn("\(name)@shop.example", at: server, for: "/web/wallet")
    }

    private func request(cents: Int = 1280, more: String = "") async throws -> (
        sid: String, eid: String
    ) {
        let reply = try await wire.create(payee, cents: cents, more: more)
        return (reply.string("sid"), reply.string("eid"))
    }

    private func session(_ sid: String) async throws -> (status: String, version: Int64?) {
        let reply = try await wire.get("/sessions/\(sid)", token: payee)
        return (reply.string("status"), reply.integer("version"))
    }

    /// Sends the form of a page, with some fields changed.
    private func press(
        _ page: BrowserPage,
        _ eid: String,
        _ browser: Browser,
        changing changes: [String: String] = [:]
    ) async throws -> BrowserPage {
        let fields = try page.fields(beside: "sid").merging(changes) { $1 }
        return try await browser.send("/p/\(eid)", fields, from: page)
    }

    @Test("A request's page opens in upper and lower case, and does not change the session")
    func shown() async throws {
        let request = try await request(more: #","memo":"2 <b>flat</b> whites""#)
        let reply = try await wire.create(payee, cents: 1)
        #expect(reply.string("public_url") == Browser.usualOrigin)
        for path in ["/P/\(request.eid.uppercased())", "/p/\(request.eid)"] {
            for visitor in [Browser(server), try await browser()] {
                let page = try await visitor.open(path)
                #expect(page.status == 200 && page.title == "Pay")
                for text in [
                    "<bdi>corner.cafe</bdi>", "$12.80", "2 &lt;b&gt;flat&lt;/b&gt; whites",
                    "<b>\(request.eid.suffix(4))</b>",
                ] {
                    #expect(page.text.contains(text), "\(text) in \(page.text)")
                }
                #expect(page.headers.first(name: "Cache-Control") == "no-store")
            }
        }
        #expect(try await session(request.sid) == ("ADVERTISING", 1))
    }

    @Test("A payer who logs in from a request's page pays once, even if the form is sent again")
    func paid() async throws {
        let request = try await request()
        let browser = Browser(server)
        let before = try await browser.open("/P/\(request.eid.uppercased())")
        let link = try #require(before.text.firstMatch(of: /href="(\/web\/login[^"]*)"/)?.output.1)
        let login = try await browser.open(String(link))
        let target = try #require(login.field("to"))
        let begun = try await browser.send(
            "/web/login/dev",
            ["email": "payer@shop.example", "to": target]
        )
        #expect(begun.location == "/p/\(request.eid)")
        let page = try await browser.open("/p/\(request.eid)")
        #expect(page.text.contains("Your wallet has $100.00."))
        let pressed = try await press(page, request.eid, browser)
        #expect(pressed.status == 303)
        let result = try await browser.open(try #require(pressed.location))
        #expect(result.title == "Paid" && result.text.contains("$12.80"), "\(result.text)")
        #expect(result.text.contains("Your wallet had $87.20 afterwards."))
        // The same form is sent again, as after a double click, and leads to the same result.
        for _ in 0..<2 {
            let again = try await press(page, request.eid, browser)
            #expect(again.status == 303 && again.location == pressed.location)
        }
        // A form with another key pays nothing, because the request is paid.
        let other = try await press(
            page,
            request.eid,
            browser,
            changing: ["key": "another-key-0123456789"]
        )
        #expect(other.location == "/p/\(request.eid)")
        let have = try await browser.open("/p/\(request.eid)")
        #expect(have.title == "You have paid this" && have.text.contains("charged nothing."))
        // A visitor without a login may be the payer, so the page says nothing about a charge.
        let anybody = try await Browser(server).open("/p/\(request.eid)")
        #expect(anybody.title == "Paid" && !anybody.text.contains("charged"))
        #expect(try await session(request.sid).status == "PAID")
        let payer = try await wire.login("payer")
        #expect(try await wire.balance(payer) == 8_720)
        #expect(try await wire.balance(payee) == 11_280)
    }

    @Test("A payment form that is sent ten times at the same time charges once")
    func pressedOften() async throws {
        let request = try await request()
        let browser = try await browser()
        let page = try await browser.open("/p/\(request.eid)")
        let body = ["form_token", "sid", "amount_cents", "currency", "payee_id", "key"]
            .map { "\($0)=\(Browser.escaped(page.field($0) ?? ""))" }.joined(separator: "&")
        let cookie = browser.cookies.map { "\($0.key)=\($0.value)" }.joined(separator: "; ")
        let unvalidated = Wire(base: wire.base, isValidated: false)
        let places = try await withThrowingTaskGroup(of: String?.self) { group in
            for _ in 0..<10 {
                group.addTask {
                    try await unvalidated.call(
                        "POST",
                        "/p/\(request.eid)",
                        body,
                        headers: [
                            "Content-Type": "application/x-www-form-urlencoded", "Cookie": cookie,
                            "Host": "127.0.0.1:7777", "Origin": Browser.usualOrigin,
                        ]
                    ).headers["location"]
                }
            }
            return try await group.reduce(into: Set<String?>()) { $0.insert($1) }
        }
        #expect(places.count == 1, "\(places)")
        let payer = try await wire.login("payer")
        #expect(try await wire.balance(payer) == 8_720)
    }

    @Test(
        "A form whose amount, payee, currency or session is not that of the request pays nothing",
        arguments: ["amount_cents", "payee_id", "currency", "sid"]
    )
    func changed(field: String) async throws {
        let request = try await request()
        let other = try await self.request(cents: 99)
        let values = [
            "amount_cents": "1279", "payee_id": "0123456789abcdef", "currency": "eur",
            "sid": other.sid,
        ]
        let browser = try await browser()
        let page = try await browser.open("/p/\(request.eid)")
        let pressed = try await press(
            page,
            request.eid,
            browser,
            changing: [field: try #require(values[field])]
        )
        #expect(pressed.status == 303 && pressed.location == "/p/\(request.eid)")
        let shown = try await browser.open("/p/\(request.eid)")
        #expect(shown.text.contains("Nothing was charged: the request is not what you saw."))
        #expect(try await session(request.sid) == ("ADVERTISING", 1))
        #expect(try await session(other.sid) == ("ADVERTISING", 1))
        #expect(try await wire.balance(try await wire.login("payer")) == 10_000)
    }

    @Test("A form without its token, its key or a login, or from another origin, pays nothing")
    func foreign() async throws {
        let request = try await request()
        let browser = try await browser()
        let page = try await browser.open("/p/\(request.eid)")
        var fields = try page.fields(beside: "sid")
        #expect(try await browser.send("/p/\(request.eid)", fields).status == 403)
        for origin in ["null", "https://evil.example"] {
            let sent = try await browser.send(
                "/p/\(request.eid)",
                fields,
                from: page,
                headers: ["Origin": origin]
            )
            #expect(sent.status == 403)
        }
        let stranger = Browser(server)
        #expect(try await stranger.send("/p/\(request.eid)", fields, from: page).status == 401)
        fields["key"] = nil
        #expect(try await browser.send("/p/\(request.eid)", fields, from: page).status == 400)
        #expect(try await session(request.sid) == ("ADVERTISING", 1))
    }

    @Test("The page of a request that cannot be paid shows the reason")
    func ends() async throws {
        let payer = try await browser()
        let own = try await request()
        let cashier = try await browser("corner.cafe")
        #expect(try await cashier.open("/p/\(own.eid)").title == "This is your own request")

        let busy = try await request()
        _ = try await wire.lock(busy.sid, by: try await wire.login("other"))
        let page = try await payer.open("/p/\(busy.eid)")
        #expect(page.title == "Being paid" && page.text.contains("http-equiv=\"refresh\""))

        let dear = try await request(cents: 10_980)
        let poor = try await payer.open("/p/\(dear.eid)")
        #expect(poor.title == "Not enough money")
        #expect(poor.text.contains("<b>$9.80</b> more") && poor.field("key") == nil)

        let cancelled = try await request()
        _ = try await wire.post("/sessions/\(cancelled.sid)/cancel", token: payee)
        #expect(try await payer.open("/p/\(cancelled.eid)").title == "Cancelled")

        let short = try await request(more: #","ttl_seconds":1"#)
        try await eventually("the request has expired") {
            try await payer.open("/p/\(short.eid)").title == "Time is up" ? true : nil
        }
        #expect(try await payer.open("/p/0000000000").status == 404)
        #expect(try await payer.open("/p/what").title == "No such request")
    }

    @Test("A payer whose balance fell after the page was opened is shown the missing amount")
    func tooLittle() async throws {
        let dear = try await request(cents: 9_000)
        let browser = try await browser()
        let page = try await browser.open("/p/\(dear.eid)")
        let cheap = try await request(cents: 2_000)
        let payer = try await wire.login("payer")
        _ = try await wire.lock(cheap.sid, by: payer)
        _ = try await wire.send(cheap.sid, by: payer, key: "0123456789abcdef")
        let pressed = try await press(page, dear.eid, browser)
        let result = try await browser.open(try #require(pressed.location))
        #expect(result.title == "Not enough money")
        #expect(result.text.contains("Your wallet had $80.00: <b>$10.00</b> more are needed."))
        #expect(result.text.contains("Nothing was charged."))
        // The session is no longer locked: another payer may pay at once.
        #expect(try await session(dear.sid).status == "ADVERTISING")
    }

    @Test("A payment with an unknown outcome is resolved by a repeat, which charges the payer once")
    func unresolved() async throws {
        let request = try await request()
        let browser = try await browser()
        let page = try await browser.open("/p/\(request.eid)")
        let lock = try await Program.locking(server.path)
        let pressed = try await press(page, request.eid, browser)
        let place = try #require(pressed.location, "\(pressed.text)")
        let unknown = try await browser.open(place)
        #expect(unknown.title == "Being found out", "\(unknown.text)")
        #expect(unknown.text.contains("Please do not pay again."))
        #expect(unknown.text.contains("http-equiv=\"refresh\""))
        lock.signal(SIGKILL)
        _ = try await lock.exitCode()
        // The form of the page has the same key and fields, so it repeats the same payment.
        let fields = try page.fields(beside: "sid").merging(["tip": "0.00"]) { $1 }
        #expect(try unknown.fields(beside: "sid") == fields)
        #expect(try await press(unknown, request.eid, browser).location == place)
        #expect(try await browser.open(place).title == "Paid")
        _ = try await press(page, request.eid, browser)
        #expect(try await wire.balance(try await wire.login("payer")) == 8_720)
    }

    @Test(
        "The page of an expired request says nothing of a charge while a payment is unresolved"
    )
    func expiredUnresolved() async throws {
        // The request must not expire before the page is open, even on a busy machine.
        let request = try await request(more: #","ttl_seconds":\#(2 * patience)"#)
        let browser = try await browser()
        let page = try await browser.open("/p/\(request.eid)")
        let lock = try await Program.locking(server.path)
        let pressed = try await press(page, request.eid, browser)
        let unknown = try await browser.open(try #require(pressed.location, "\(pressed.text)"))
        #expect(unknown.title == "Being found out", "\(unknown.text)")
        let shown = try await eventually("the session has expired") {
            let page = try await browser.open("/p/\(request.eid)")
            return page.title == "Time is up" ? page : nil
        }
        #expect(!shown.text.contains("charged"))
        lock.signal(SIGKILL)
        _ = try await lock.exitCode()
        try await eventually("the page says that nothing was charged") {
            let page = try await browser.open(try #require(pressed.location))
            return page.text.contains("You were not charged.") ? true : nil
        }
        #expect(try await wire.balance(try await wire.login("payer")) == 10_000)
    }

    @Test("A tip is paid beside the amount if the request allows tips, and is otherwise refused")
    func tip() async throws {
        let request = try await request(more: #","allows_tip":true"#)
        let browser = try await browser()
        let page = try await browser.open("/p/\(request.eid)")
        #expect(page.text.contains("<button class=\"main\">Pay $12.80 + tip</button>"))
        for wrong in ["x", "-1", "1.234", "999999999", "1 50", "1\u{A0}50", "1,000.00"] {
            let sent = try await press(page, request.eid, browser, changing: ["tip": wrong])
            #expect(sent.location == "/p/\(request.eid)", "\(wrong)")
            let shown = try await browser.open("/p/\(request.eid)")
            #expect(shown.text.contains("Nothing was charged: the tip is no amount"), "\(wrong)")
        }
        let pressed = try await press(page, request.eid, browser, changing: ["tip": " 2.5 "])
        let result = try await browser.open(try #require(pressed.location))
        #expect(result.title == "Paid", "\(result.text)")
        #expect(result.text.contains("$15.30</p>") && result.text.contains("$12.80 + $2.50 tip"))
        #expect(try await wire.balance(try await wire.login("payer")) == 8_470)
        // The page of a request without tips has no field for a tip. A form with a tip pays
        // nothing.
        let other = try await self.request()
        let plain = try await browser.open("/p/\(other.eid)")
        #expect(!plain.text.contains("tip"))
        let refused = try await press(plain, other.eid, browser, changing: ["tip": "1"])
        let none = try await browser.open(try #require(refused.location))
        #expect(none.text.contains("The request takes no tip") && none.title == "Not paid")
        #expect(try await wire.balance(try await wire.login("payer")) == 8_470)
    }

    @Test("The result of a payment is not shown to another payer or without a login")
    func result() async throws {
        let request = try await request()
        let browser = try await browser()
        let pressed = try await press(
            try await browser.open("/p/\(request.eid)"),
            request.eid,
            browser
        )
        let place = try #require(pressed.location)
        let other = try await self.browser("other")
        #expect(try await other.open(place).title == "Not paid")
        #expect(try await other.open("/p/\(request.eid)").title == "Already paid")
        #expect(try await browser.open("/p/\(request.eid)/result?sid=x&key=y").status == 404)
        let stranger = Browser(server)
        #expect(try await stranger.open(place).location?.hasPrefix("/web/login?to=/p/") == true)
    }

    @Test("Unknown EIDs on pages and in the API count towards one limit")
    func guesses() async throws {
        let browser = Browser(server)
        var statuses: [Int] = []
        for guess in 0..<21 {
            statuses.append(try await browser.open("/p/00000000\(10 + guess)").status)
        }
        #expect(statuses == Array(repeating: 404, count: 20) + [429])
        let request = try await request()
        let reply = try await wire.post("/sessions/resolve", #"{"eid":"\#(request.eid)"}"#)
        #expect(reply.status == 429)
        // A logged-in user has a separate limit.
        let visitor = try await self.browser()
        #expect(try await visitor.open("/p/\(request.eid)").status == 200)
    }

    @Test("A typed EID may have capitals and spaces, and other text is refused")
    func typed() async throws {
        let browser = Browser(server)
        #expect(try await browser.open("/p").title == "Pay")
        let led = try await browser.open("/p?eid=8BB7+1B34%2047")
        #expect(led.status == 303 && led.location == "/p/8bb71b3447")
        let wrong = try await browser.open("/p?eid=%22%3E%3Cscript%3E")
        #expect(wrong.status == 400 && wrong.text.contains("value=\"&quot;&gt;&lt;script&gt;\""))
    }
}
