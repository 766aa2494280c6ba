import Foundation
import TestSupport
import Testing

/// Tests of links to the results of payments that other people have made.
@Suite("Addresses of results")
struct ResultAddressTests {
    private let server: ServerProcess
    private var wire: Wire { server.wire }
    private let payee: String

    init() async throws {
        server = try await ServerProcess(more: Browser.arguments + ["--contests"])
        payee = try await server.wire.login("corner.cafe")
    }

    private func browser(_ name: String = "payer") async throws -> Browser {
        try await Browser.loggedIn("\(name)@shop.example", at: server, for: "/web/wallet")
    }

    /// The kinds of requests that a page can pay.
    enum Kind: CaseIterable {
        case plain, share, desk
    }

    private func request(_ kind: Kind) async throws -> (sid: String, eid: String) {
        let reply: WireReply
        switch kind {
        case .plain:
            reply = try await wire.create(payee, cents: 1_000, more: #","allows_tip":true"#)
        case .share:
            let terms = #","kind":"split","share_cents":[700,300]"#
            reply = try await wire.create(payee, cents: 1_000, more: terms)
        case .desk:
            let made = try await wire.post(
                "/api/contests",
                ContestRig.body(),
                token: payee,
                key: ContestRig.key()
            )
            let id = made.string("id")
            let path = "/api/contests/\(id)/publish"
            _ = try await wire.post(path, token: payee, key: ContestRig.key())
            let body = #"{"kind":"entry","contest_id":"\#(id)"}"#
            reply = try await wire.post("/sessions/create", body, token: payee)
        }
        #expect(reply.status == 200, "\(reply.text)")
        return (reply.string("sid"), reply.string("eid"))
    }

    /// Submits a payment that stays undecided, because another program holds the database. Returns
    /// the address of its result.
    private func submit(_ eid: String, _ browser: Browser, tip: String = "") async throws -> String
    {
        let page = try await browser.open("/p/\(eid)")
        var fields = try page.fields(beside: "sid")
        if !tip.isEmpty { fields["tip"] = tip }
        let lock = try await Program.locking(server.path)
        let pressed = try await browser.send("/p/\(eid)", fields, from: page)
        lock.signal(SIGKILL)
        _ = try await lock.exitCode()
        return try #require(pressed.location, "\(pressed.text)")
    }

    @Test(
        "A result address that somebody else has made shows no amount and has no form",
        arguments: Kind.allCases
    )
    func made(kind: Kind) async throws {
        let request = try await request(kind)
        let victim = try await browser()
        let key = "00000000000000000000000000000000"
        let path = "/p/\(request.eid)/result?sid=\(request.sid)&key=\(key)"
        let thief = try await submit(request.eid, try await browser("eve"))
        let code = try #require(thief.split(separator: "=").last)
        let links = [
            path, "\(path)&amount=1000", "\(path)&amount=1000&tip=10000", thief,
            "\(path)&amount=1000&tip=10000&code=\(code)", "\(path)&amount=1000&code=",
        ]
        for link in links {
            let page = try await victim.open(link)
            #expect(page.status == 200 && page.title == "Being found out", "\(page.text)")
            #expect(page.field("sid") == nil && !page.text.contains("Find out now"), "\(link)")
            #expect(!page.text.contains("$"), "\(link): \(page.text)")
            #expect(page.text.contains("href=\"/p/\(request.eid)\""), "\(link)")
        }
        #expect(try await wire.balance(try await wire.login("payer")) == 10_000)
    }

    @Test("The form of an undecided payment is gone if anything in its address is changed")
    func changed() async throws {
        let (request, other) = (try await request(.plain), try await request(.plain))
        let browser = try await browser()
        let own = try await submit(request.eid, browser, tip: "2.5")
        #expect(try await browser.open(own).field("sid") == request.sid)
        let key = try #require(own.firstMatch(of: /&key=([^&]*)/)?.output.1)
        for (part, change) in [
            ("tip=250", "tip=2500"), ("&tip=250", ""), ("amount=1000", "amount=2000"),
            (request.sid, other.sid), (request.eid, other.eid), (String(key), "\(key)0"),
        ] {
            let page = try await browser.open(own.replacing(part, with: change))
            #expect(page.title == "Being found out" && page.field("sid") == nil, "\(part)")
        }
        // A new login of the same person has another session.
        let again = try await self.browser()
        #expect(try await again.open(own).field("sid") == nil)
    }

    @Test("The page of an undecided payment shows the total that its form pays, with the tip in it")
    func total() async throws {
        let request = try await request(.plain)
        let browser = try await browser()
        let own = try await submit(request.eid, browser, tip: "2.5")
        let page = try await browser.open(own)
        #expect(page.text.contains("<p class=\"amount\">$12.50</p>"), "\(page.text)")
        #expect(page.text.contains("<p>$10.00 + $2.50 tip</p>"), "\(page.text)")
        let fields = try page.fields(beside: "sid")
        #expect(try await browser.send("/p/\(request.eid)", fields, from: page).location == own)
        let result = try await browser.open(own)
        #expect(result.title == "Paid" && result.text.contains("$12.50"), "\(result.text)")
        #expect(try await wire.balance(try await wire.login("payer")) == 8_750)
        // The ledger's answer is shown without the code, too.
        let plain = try await browser.open(own.replacing(/&(amount|tip|code)=[^&]*/, with: ""))
        #expect(plain.title == "Paid" && plain.text.contains("$10.00 + $2.50 tip"))
    }

    @Test("The page of an undecided share shows the share's amount until its bill ends")
    func share() async throws {
        let bill = try await request(.share)
        let ann = try await browser("ann")
        let own = try await submit(bill.eid, ann)
        // Another payer pays the first share, so the next free share has another amount.
        let bob = try await browser("bob")
        let page = try await bob.open("/p/\(bill.eid)")
        let fields = try page.fields(beside: "sid")
        let paid = try await bob.send("/p/\(bill.eid)", fields, from: page)
        #expect(try await bob.open(try #require(paid.location)).title == "Paid")
        let waiting = try await ann.open(own)
        #expect(waiting.title == "Being found out" && waiting.field("amount_cents") == "700")
        #expect(waiting.text.contains("$7.00") && !waiting.text.contains("$10.00"))
        _ = try await wire.post("/sessions/\(bill.sid)/cancel", token: payee)
        let ended = try await ann.open(own)
        #expect(ended.title == "Not paid" && ended.text.contains("You were not charged."))
        #expect(try await wire.balance(try await wire.login("ann")) == 10_000)
    }

    @Test("A visitor who entered a contest in another tab is never told that nothing was charged")
    func entered() async throws {
        let desk = try await request(.desk)
        let ann = try await browser("ann")
        let own = try await submit(desk.eid, ann)
        let page = try await ann.open("/p/\(desk.eid)")
        let fields = try page.fields(beside: "sid")
        let paid = try await ann.send("/p/\(desk.eid)", fields, from: page)
        #expect(try await ann.open(try #require(paid.location)).title == "Paid")
        let closed = try await wire.post("/sessions/\(desk.sid)/cancel", token: payee)
        #expect(closed.status == 200, "\(closed.text)")
        let key = "00000000000000000000000000000000"
        for link in [own, "/p/\(desk.eid)/result?sid=\(desk.sid)&key=\(key)&amount=500"] {
            let result = try await ann.open(link)
            #expect(result.title == "You have paid this", "\(link): \(result.text)")
        }
        #expect(try await wire.balance(try await wire.login("ann")) == 9_500)
    }
}
