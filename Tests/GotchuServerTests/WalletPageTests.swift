import Foundation
import GotchuCore
import Ledger
import LedgerStore
import SQLite
import TestSupport
import Testing

@testable import GotchuServer

/// Tests of a user's wallets in a browser without scripts.
@Suite("The wallet's page")
struct WalletPageTests {
    @Test("The wallet's page shows the balance with its time, and 25 entries")
    func wallet() async throws {
        let server = try await ServerProcess(more: Browser.arguments)
        let wire = server.wire
        let (payee, payer) = (try await wire.login("corner.cafe"), try await wire.login("payer"))
        for number in 0..<30 {
            let sid = try await wire.lockedSession(payee, payer, cents: 100)
            _ = try await wire.send(sid, by: payer, key: "wallet-key-0123456-\(number)")
        }
        let browser = try await Browser.loggedIn("payer@shop.example", at: server)
        let first = try await browser.open("/web/wallet")
        #expect(first.status == 200 && first.title == "Wallet")
        #expect(first.text.contains("$70.00</p>") && first.text.contains("<time datetime="))
        #expect(first.text.contains("hidden>As of <time"))
        // Each entry names the payee, and the page has a link to the form for the next payment.
        #expect(first.text.ranges(of: "Paid to <bdi>corner.cafe</bdi>").count == 25)
        #expect(first.text.contains("href=\"/p\">Pay</a>"))
        let earner = try await Browser.loggedIn("corner.cafe@shop.example", at: server)
        let earned = try await earner.open("/web/wallet").text
        #expect(earned.contains(">Received") && !earned.contains("payer"))
        #expect(first.text.ranges(of: "<td class=\"n\">\u{2212}$1.00</td>").count == 25)
        let older = try #require(first.text.firstMatch(of: /href="(\/web\/wallet\?cursor=[^"]+)"/))
        let second = try await browser.open(String(older.output.1))
        // The second page has the other payments and the opening deposit.
        #expect(second.text.ranges(of: "<td class=\"n\">\u{2212}$1.00</td>").count == 5)
        #expect(second.text.contains("Deposit") && !second.text.contains("cursor="))
        #expect(!second.text.contains("As of"))
        let other = try await Browser.loggedIn("other@shop.example", at: server)
        #expect(try await other.open(String(older.output.1)).status == 400)
        for (wrong, status, code, reason) in [
            ("currency=eur", 404, "NOT_FOUND", "You have no such wallet"),
            ("currency=x", 400, "VALIDATION_ERROR", "The currency must be"),
            ("cursor=x", 400, "VALIDATION_ERROR", "The page is none of this wallet"),
        ] {
            let page = try await browser.open("/web/wallet?\(wrong)")
            #expect(page.status == status && page.text.contains("<code>\(code)</code>"), "\(wrong)")
            #expect(page.text.contains(reason), "\(wrong): \(page.text)")
        }
        // It is ignored like those that messengers add to links: the login selects the wallet.
        let own = try await browser.open("/web/wallet?wallet_id=1&fbclid=x")
        #expect(own.status == 200 && own.text.contains("$70.00</p>"))
    }

    @Test("A payer pays from the wallet of the request's currency, and can see all own wallets")
    func currencies() async throws {
        // The server opens wallets in one currency only, so the test adds others to the database.
        let server = try await ServerProcess(more: Browser.arguments)
        let payee = try await server.wire.login("corner.cafe")
        _ = try await server.wire.login("payer")
        #expect(try await server.stop() == 0)
        let connection = try Connection(path: server.path, mode: .readWrite)
        try connection.execute(
            """
            INSERT INTO accounts SELECT owner, 'eur', 0, 0, 0, changed_at FROM accounts
            WHERE currency = 'usd' AND balance >= 0
            """
        )
        let store = try SQLiteStore(path: server.path)
        _ = try await store.commit(
            OpenAccount(
                login: "euro@shop.example",
                displayName: "euro",
                opening: Money(minorUnits: 5_000, currency: .eur)
            )
        )
        let again = try await ServerProcess(folder: server.folder, more: Browser.arguments)
        let created = try await again.wire.create(payee, cents: 1_280, more: #","currency":"eur""#)
        let path = "/p/\(created.string("eid"))"
        let dollars = try await Browser.loggedIn("payer@shop.example", at: again, for: path)
        let poor = try await dollars.open(path)
        #expect(poor.title == "Not enough money" && poor.text.contains("<b>€12.80</b> more"))
        #expect(poor.text.contains("href=\"/web/wallet?currency=eur\""))
        let wallet = try await dollars.open("/web/wallet?currency=eur")
        #expect(wallet.text.contains("€0.00</p>") && wallet.text.contains(">USD</a>"))
        #expect(try await dollars.open("/web/wallet").text.contains("$100.00</p>"))

        let euro = try await Browser.loggedIn("euro@shop.example", at: again, for: path)
        let page = try await euro.open(path)
        #expect(page.text.contains("Pay €12.80</button>"), "\(page.text)")
        let sent = try await euro.send(path, try page.fields(beside: "sid"), from: page)
        #expect(try await euro.open(try #require(sent.location)).title == "Paid")
        let left = try await euro.open("/web/wallet")
        #expect(left.text.contains("€37.20</p>") && left.text.contains("\u{2212}€12.80"))
        #expect(!left.text.contains("aria-label=\"Currency\""))
    }
}
