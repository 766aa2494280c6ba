import Foundation
import TestSupport
import Testing

/// Tests of the payer's pages in other languages than English.
@Suite("The payer's pages in other languages")
struct PayerLanguageTests {
    private let server: ServerProcess
    private let payee: String

    init() async throws {
        server = try await ServerProcess(more: Browser.arguments)
        payee = try await server.wire.login("corner.cafe")
    }

    private func browser(_ name: String = "payer") async throws -> Browser {
        try await Browser.loggedIn("\(name)@shop.example", at: server, for: "/web/wallet")
    }

    /// Creates a request and returns the path of its page.
    private func request(more: String = "") async throws -> String {
        "/p/" + (try await server.wire.create(payee, cents: 1280, more: more)).string("eid")
    }

    private func press(
        _ page: BrowserPage,
        _ path: String,
        _ browser: Browser,
        tip: String? = nil
    ) async throws -> BrowserPage {
        var fields = try page.fields(beside: "sid")
        fields["tip"] = tip
        return try await browser.send(path, fields, from: page)
    }

    @Test(
        "A payer's pages are in the browser's language, and English messages are marked as English",
        arguments: [
            (
                "de-AT,en;q=0.5", "<html lang=\"de\" dir=\"ltr\">",
                ["Anmelden und zahlen", "12,80\u{A0}$ zahlen", "Bezahlt", "Guthaben", "Heute"]
            ),
            (
                "fr, ar;q=0.9", "<html lang=\"ar\" dir=\"rtl\">",
                [
                    "سجّل الدخول لتدفع", "ادفع \u{2066}$12.80\u{2069}", "تم الدفع", "الرصيد",
                    "اليوم",
                ]
            ),
        ]
    )
    func languages(accepted: String, opening: String, words: [String]) async throws {
        let headers = ["Accept-Language": accepted]
        let request = try await self.request()
        let stranger = try await Browser(server).open(request, headers: headers)
        #expect(stranger.text.contains(opening) && stranger.text.contains(words[0]))
        let login = try await Browser(server).open("/web/login", headers: headers)
        #expect(login.text.contains(opening) && login.title != "Log in")
        let browser = try await self.browser()
        let page = try await browser.open(request, headers: headers)
        #expect(page.text.contains("<button class=\"main\">\(words[1])</button>"), "\(page.text)")
        let pressed = try await press(page, request, browser)
        let place = try #require(pressed.location)
        let result = try await browser.open(place, headers: headers)
        #expect(result.title == words[2] && result.text.contains(words[4]), "\(result.text)")
        let wallet = try await browser.open("/web/wallet", headers: headers)
        #expect(wallet.text.contains(opening) && wallet.text.contains(words[3]))
        // Messages of the server itself are in English and marked as English.
        let problem = try await browser.open("/web/wallet?cursor=x", headers: headers)
        #expect(problem.status == 400 && problem.text.contains(opening))
        #expect(problem.text.contains("role=\"alert\" lang=\"en\" dir=\"ltr\">"))
        // The merchant's pages are always in English.
        let earner = try await Browser.loggedIn("corner.cafe@shop.example", at: server)
        let earnings = try await earner.open("/web/earnings", headers: headers)
        #expect(earnings.text.contains("<html lang=\"en\" dir=\"ltr\">"))
    }

    @Test(
        "A tip with a decimal comma, Arabic or Persian digits is paid; an unclear tip is refused"
    )
    func typed() async throws {
        for (tip, total) in [("2,50", "$15.30"), ("٢٫٥", "$15.30"), ("۱", "$13.80")] {
            let request = try await self.request(more: #","allows_tip":true"#)
            let browser = try await self.browser(tip == "۱" ? "third" : "payer")
            let page = try await browser.open(request)
            let pressed = try await press(page, request, browser, tip: tip)
            let result = try await browser.open(try #require(pressed.location))
            #expect(result.title == "Paid" && result.text.contains("\(total)</p>"), "\(tip)")
        }
        let request = try await self.request(more: #","allows_tip":true"#)
        let browser = try await self.browser()
        let page = try await browser.open(request)
        for wrong in ["1,234", "1,000.00", "1.000,00", "2,", ",5", "½"] {
            let sent = try await press(page, request, browser, tip: wrong)
            #expect(sent.location == request, "\(wrong)")
        }
    }
}
