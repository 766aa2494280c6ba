import Foundation
import PostgresTestSupport
import TestSupport
import Testing

/// Tests of the web pages while the database does not answer, and with two servers on one database.
@Suite("Pages and their database")
struct WebDatabaseTests {
    private let cluster: PostgresCluster
    private let url: String
    private let server: ServerProcess

    init() async throws {
        cluster = try PostgresCluster()
        url = cluster.url(try cluster.makeDatabase())
        server = try await ServerProcess(database: url, more: Browser.arguments)
    }

    @Test(
        "A web session is valid at both servers, and a logout at one ends it at the other at once"
    )
    func servers() async throws {
        let other = try await ServerProcess(database: url, more: Browser.arguments)
        let browser = try await Browser.loggedIn("ada@cafe.example", at: server)
        let there = browser.copy(at: other)
        let page = try await there.open("/web/earnings")
        #expect(page.status == 200 && page.text.contains("<bdi>ada</bdi>"))
        #expect(try await there.send("/web/logout", [:], from: page).status == 303)
        #expect(try await browser.open("/web/earnings").status == 303)
    }

    @Test("Pages have status 503 and show no amounts while the database hangs or is gone")
    func away() async throws {
        let browser = try await Browser.loggedIn("ada@cafe.example", at: server)
        let before = try await browser.open("/web/earnings")
        #expect(before.text.contains("$0.00"))
        try cluster.freeze(true)
        let pages = [
            try await browser.open("/web/earnings"),
            try await browser.open("/p/0123456789/result?sid=x&key=0123456789abcdef"),
            try await browser.send("/web/logout", [:], from: before),
        ]
        for page in pages {
            #expect(page.status == 503 && page.text.contains("TRY_AGAIN"), "\(page.text)")
            #expect(page.text.contains("The books cannot be reached") && !page.text.contains("$"))
            #expect(page.text.contains("<code>\(page.header("X-Request-ID") ?? "-")</code>"))
        }
        // The pages do not report an unknown outcome as a failure.
        #expect(pages[1].text.contains("It is not known yet whether this was paid"))
        #expect(pages[2].text.contains("It is not known whether this was done"))
        // The browser reloads the opened pages by itself, but never sends a form again.
        for page in pages.prefix(2) {
            let again = "<noscript><meta http-equiv=\"refresh\" content=\"5\"></noscript>"
            #expect(page.text.contains("data-seconds=\"5\"") && page.text.contains(again))
        }
        #expect(!pages[2].text.contains("http-equiv") && !pages[2].text.contains("data-seconds"))
        try cluster.freeze(false)
        try await eventually("the page is back", within: .seconds(30)) {
            try await browser.open("/web/earnings").status == 200 ? true : nil
        }
        try cluster.killPostmaster()
        let gone = try await browser.open("/web/earnings")
        #expect(gone.status == 503 && !gone.text.contains("$"))
        #expect(try await browser.open("/web/login").status == 200)
    }
}
