import Foundation
import SQLite
import TestSupport
import Testing

/// Tests of deposits and withdrawals in a browser without scripts, on a development server.
@Suite("The pages for deposits and withdrawals")
struct MoneyPageTests {
    private func server(_ more: [String: String] = [:]) async throws -> ServerProcess {
        try await ServerProcess(more: Browser.arguments, environment: more)
    }

    private func balance(_ server: ServerProcess) async throws -> Int64? {
        try await server.wire.balance(try await server.wire.login("ada"))
    }

    /// Makes all logins more than 15 minutes old: too old to move money.
    private func age(_ server: ServerProcess) throws {
        try Connection(path: server.path, mode: .readWrite).execute(
            "UPDATE web_sessions SET authenticated_at = authenticated_at - 900001"
        )
    }

    @Test("A deposit form sent twice adds money once; its key with another amount is refused")
    func deposit() async throws {
        let server = try await server()
        let browser = try await Browser.loggedIn("ada@shop.example", at: server, for: "/web/wallet")
        let page = try await browser.open("/web/wallet")
        var fields = try page.fields(beside: "key")
        fields["amount"] = "20.5"
        for _ in 0..<2 {
            let sent = try await browser.send("/web/wallet/deposits", fields, from: page)
            #expect(sent.status == 303 && sent.location == "/web/wallet", "\(sent.text)")
        }
        #expect(try await balance(server) == 12_050)
        let wallet = try await browser.open("/web/wallet")
        #expect(wallet.text.contains("Added: the money is in your wallet."))
        #expect(wallet.text.contains("$20.50"))
        fields["amount"] = "21"
        let reused = try await browser.send("/web/wallet/deposits", fields, from: page)
        #expect(reused.status == 422, "\(reused.text)")
        #expect(try await balance(server) == 12_050)
    }

    @Test("Only a login for payouts opens the payout pages, and only a recent login can withdraw")
    func rights() async throws {
        let server = try await server()
        let narrow = try await Browser.loggedIn("ada@shop.example", at: server)
        let turned = try await narrow.open("/web/payouts")
        #expect(turned.status == 303 && turned.location == "/web/login?to=/web/payouts")
        let login = try await narrow.open("/web/login?to=/web/payouts")
        #expect(login.text.contains("with a login for payouts only"))
        let earnings = try await narrow.open("/web/earnings")
        let fields = ["amount": "5", "key": "payout-page-key-0001"]
        for path in ["withdrawal", "setup", "x/cancel"] {
            let sent = try await narrow.send("/web/payouts/\(path)", fields, from: earnings)
            #expect(sent.status == 403 && sent.text.contains("does not allow"), "\(path)")
        }
        let wide = try await Browser.loggedIn("ada@shop.example", at: server, for: "/web/payouts")
        let asked = try await wide.open("/web/payouts/withdrawal?amount=5")
        #expect(asked.status == 200, "\(asked.text)")
        try age(server)
        let stale = try await wide.send(
            "/web/payouts/withdrawal",
            try asked.fields(beside: "key"),
            from: asked
        )
        #expect(stale.status == 403 && stale.text.contains("needs a login of the last 15 minutes"))
        #expect(try await balance(server) == 10_000)
    }

    @Test("A withdrawal with an unknown outcome is sent again with its key, and is made once")
    func unresolved() async throws {
        let server = try await server()
        let browser = try await Browser.loggedIn(
            "ada@shop.example",
            at: server,
            for: "/web/payouts"
        )
        let page = try await browser.open("/web/payouts/withdrawal?amount=5.00")
        let fields = try page.fields(beside: "key")
        let lock = try await Program.locking(server.path)
        let unknown = try await browser.send("/web/payouts/withdrawal", fields, from: page)
        #expect(unknown.status == 503, "\(unknown.text)")
        #expect(unknown.text.contains("It is not known whether $5.00 was taken"))
        #expect(try unknown.fields(beside: "key") == fields)
        lock.signal(SIGKILL)
        _ = try await lock.exitCode()
        for _ in 0..<2 {
            let known = try await browser.send("/web/payouts/withdrawal", fields, from: unknown)
            #expect(known.status == 303 && known.location == "/web/payouts", "\(known.text)")
            // A repeat of a made withdrawal needs no recent login.
            try age(server)
        }
        #expect(try await balance(server) == 9_500)
    }

    @Test("Older deposits and withdrawals are shown on a second page")
    func older() async throws {
        let server = try await server()
        let token = try await server.wire.login("ada")
        for (path, count) in [("/api/payments/intents", 17), ("/api/wallet/withdrawals", 52)] {
            for number in 0..<count {
                let made = try await server.wire.post(
                    path,
                    #"{"amount_cents":150}"#,
                    token: token,
                    key: "older-page-key-0000\(number)"
                )
                #expect([200, 202].contains(made.status), "\(made.text)")
            }
        }
        let browser = try await Browser.loggedIn(
            "ada@shop.example",
            at: server,
            for: "/web/payouts"
        )
        for (path, id, perPage, rest) in [
            ("/web/wallet", "deposits", 15, 2), ("/web/payouts", "withdrawals", 50, 2),
        ] {
            func rows(_ text: String) throws -> Int {
                let start = try #require(text.range(of: "id=\"\(id)\"")).upperBound
                return try #require(text[start...].split(separator: "</table>").first)
                    .ranges(of: "<td class=\"n\">$1.50</td>").count
            }
            let first = try await browser.open(path).text
            #expect(try rows(first) == perPage)
            let link = try #require(
                first.firstMatch(of: /href="(\/web\/[a-z]+\?before=[^"#]+)#[a-z]+">Older/)
            )
            let second = try await browser.open(String(link.output.1))
            #expect(try rows(second.text) == rest, "\(second.text)")
            #expect(!second.text.contains("?before="))
            #expect(try await browser.open("\(path)?before=x").status == 400)
        }
    }

    @Test("A user who may not deposit or withdraw finds neither on the pages")
    func absent() async throws {
        let users = try TemporaryFolder()
        let list = try users.write("nobody\n", to: "users")
        let server = try await server(["GOTCHU_SERVER_FUNDING_USERS_FILE": list])
        let browser = try await Browser.loggedIn(
            "ada@shop.example",
            at: server,
            for: "/web/payouts"
        )
        let wallet = try await browser.open("/web/wallet")
        #expect(wallet.status == 200 && !wallet.text.contains("Add money"))
        #expect(!wallet.text.contains("/web/payouts") && !wallet.text.contains("/contests"))
        #expect(!(try await browser.open("/web/earnings")).text.contains("Pending"))
        #expect(try await browser.open("/web/payouts").status == 404)
        let sent = try await browser.send(
            "/web/wallet/deposits",
            ["amount": "5", "key": "deposit-page-key-0001"],
            from: wallet
        )
        #expect(sent.status == 404 && sent.text.contains("FUNDING_NOT_CONFIGURED"))
    }

    @Test("The provider's return addresses have pages without --web, but not without a provider")
    func returns() async throws {
        try await FundingRig.with { rig in
            let browser = Browser(await rig.wire())
            for path in ["/payments/done", "/payments/cancelled", "/connect/return"] {
                let page = try await browser.open(path)
                #expect(page.status == 200 && page.title != nil, "\(path)")
            }
            #expect(try await browser.open("/web/wallet").status == 404)
        }
        let server = try await ServerProcess()
        #expect(try await Browser(server.wire).open("/payments/done").status == 404)
    }
}
