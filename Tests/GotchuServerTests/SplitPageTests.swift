import Foundation
import TestSupport
import Testing

/// Tests of shared bills on the payers' pages.
@Suite("Splits on the payer's pages")
struct SplitPageTests {
    private let server: ServerProcess
    private var wire: Wire { server.wire }
    private let payee: String

    init() async throws {
        server = try await ServerProcess(more: Browser.arguments)
        payee = try await server.wire.login("corner.cafe")
    }

    private func browser(_ name: String) async throws -> Browser {
        try await Browser.loggedIn("\(name)@shop.example", at: server, for: "/web/wallet")
    }

    private func bill(_ terms: String, cents: Int = 1_000) async throws -> (
        sid: String, eid: String
    ) {
        let reply = try await wire.create(
            payee,
            cents: cents,
            more: #","kind":"split","# + terms
        )
        #expect(reply.status == 200, "\(reply.text)")
        return (reply.string("sid"), reply.string("eid"))
    }

    /// Sends the form of a bill's page and returns the page of the result.
    private func pay(_ eid: String, _ browser: Browser) async throws -> BrowserPage {
        let page = try await browser.open("/p/\(eid)")
        let fields = try page.fields(beside: "sid")
        let pressed = try await browser.send("/p/\(eid)", fields, from: page)
        #expect(pressed.status == 303, "\(pressed.text)")
        return try await browser.open(try #require(pressed.location))
    }

    @Test("A bill's page shows a payer's own paid share, before and after the bill is paid")
    func paid() async throws {
        let bill = try await bill(#""share_cents":[700,300]"#)
        let ann = try await browser("ann")
        let first = try await pay(bill.eid, ann)
        #expect(first.title == "Paid" && first.text.contains("$7.00"), "\(first.text)")
        // The page does not ask for a second share.
        let again = try await ann.open("/p/\(bill.eid)")
        #expect(again.title == "You have paid this" && again.text.contains("$7.00"))
        #expect(again.field("key") == nil)
        let bob = try await browser("bob")
        #expect(try await bob.open("/p/\(bill.eid)").text.contains("Pay $3.00"))
        #expect(try await pay(bill.eid, bob).title == "Paid")
        for (payer, amount) in [(ann, "$7.00"), (bob, "$3.00")] {
            let page = try await payer.open("/p/\(bill.eid)")
            #expect(page.title == "You have paid this" && page.text.contains(amount))
            #expect(!page.text.contains("not charged"), "\(page.text)")
        }
        let host = try await browser("corner.cafe").open("/p/\(bill.eid)")
        #expect(host.title == "Paid" && !host.text.contains("You have paid"), "\(host.text)")
        let other = try await browser("cat").open("/p/\(bill.eid)")
        #expect(other.title == "Already paid" && other.text.contains("You were not charged."))
        #expect(try await Browser(server).open("/p/\(bill.eid)").title == "Paid")
    }

    @Test(
        "A cancelled bill's page shows a payer's share; to others it says nothing about a charge"
    )
    func cancelled() async throws {
        let bill = try await bill(#""shares":2"#)
        let ann = try await browser("ann")
        #expect(try await pay(bill.eid, ann).title == "Paid")
        let cancel = try await wire.post("/sessions/\(bill.sid)/cancel", token: payee)
        #expect(cancel.status == 200, "\(cancel.text)")
        let own = try await ann.open("/p/\(bill.eid)")
        #expect(own.title == "You have paid this" && own.text.contains("$5.00"))
        for visitor in [Browser(server), try await browser("bob")] {
            let page = try await visitor.open("/p/\(bill.eid)")
            #expect(page.title == "Cancelled" && !page.text.contains("charged"), "\(page.text)")
        }
    }

    @Test("A cancelled all-or-nothing bill refunds a share, and its page shows this to the payer")
    func returned() async throws {
        let bill = try await bill(#""shares":2,"is_all_or_nothing":true"#)
        let ann = try await browser("ann")
        #expect(try await pay(bill.eid, ann).title == "Paid")
        _ = try await wire.post("/sessions/\(bill.sid)/cancel", token: payee)
        let own = try await ann.open("/p/\(bill.eid)")
        #expect(own.title == "You have paid this", "\(own.text)")
        #expect(own.text.contains("$5.00 of it came back."))
        #expect(try await wire.balance(try await wire.login("ann")) == 10_000)
    }

    @Test("A payer who has locked a share is asked for its amount, and pays it")
    func held() async throws {
        let bill = try await bill(#""share_cents":[700,300]"#)
        let token = try await wire.login("ann")
        let lock = #"{"sid":"\#(bill.sid)","expected_amount_cents":300}"#
        #expect(try await wire.post("/sessions/lock", lock, token: token).status == 200)
        let ann = try await browser("ann")
        #expect(try await ann.open("/p/\(bill.eid)").text.contains("Pay $3.00"))
        let paid = try await pay(bill.eid, ann)
        #expect(paid.title == "Paid" && paid.text.contains("$3.00"), "\(paid.text)")
        #expect(try await wire.balance(token) == 9_700)
    }
}
