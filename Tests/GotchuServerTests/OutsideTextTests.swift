import Foundation
import NIOCore
import TestSupport
import Testing

@testable import GotchuServer

/// Text whose comparison would take the square of its length.
@Suite("Combining marks in requests to the server")
struct OutsideTextTests {
    @Test("Combining marks cost no route more than four times as much as other text")
    func routes() async throws {
        let server = try await ServerProcess(
            more: Browser.arguments + ["--contests", "--calls-per-second", "10000"]
        )
        let browser = try await Browser.loggedIn("payee@example.com", at: server)
        let token = try #require(try await browser.open("/web/earnings").formToken)
        let cookies = browser.cookies.map { "\($0.key)=\($0.value)" }.joined(separator: "; ")
        let host = Browser.usualOrigin.replacing("http://", with: "")
        let described = try await Contract.served().operations.union(
            Contract(yaml: String(buffer: OpenAPI.contests)).operations
        )
        let port = try #require(server.wire.base.split(separator: ":").last.map(String.init))
        let api = try MarkedRequests(
            described.sorted(),
            of: server.program.processID,
            at: port,
            headers: [
                "Host": host, "Authorization": "Bearer \(try await server.wire.login("payee"))",
                "Idempotency-Key": UUID().uuidString,
            ],
            readBy: ["GotchuServer/Routes", "GotchuServer/Funding", "GotchuServer/Contests"]
        )
        #expect(api.routes.count > 40 && api.strings.count > 20 && api.parameters.count > 5)
        let pages = try MarkedRequests(
            try Self.pages(),
            of: server.program.processID,
            at: port,
            headers: ["Host": host, "Origin": browser.origin, "Cookie": cookies],
            form: "form_token=\(Browser.escaped(token))&",
            readBy: ["GotchuServer/Web"]
        )
        #expect(pages.routes.count > 30 && pages.fields.count > 10)
        for requests in [api, pages] {
            let outcome = try await requests.send()
            #expect(outcome.slow.isEmpty, "\(outcome.slow.map { "\($0)" }.joined(separator: "\n"))")
            #expect(outcome.count > 1_000)
            // A request that is refused for its rate is not read.
            #expect(outcome.statuses["429"] ?? 0 < outcome.count / 10, "\(outcome.statuses)")
        }
    }

    /// Returns the routes of the pages, from the list of their addresses.
    private static func pages() throws -> [String] {
        let file = Python.file("Sources/GotchuServer/Web/WebPath.swift")
        let paths = try String(contentsOfFile: file, encoding: .utf8)
            .matches(of: /static let \w+ = "(\/[^"]*)"/).map { String($0.output.1) }
        return (paths + ["/p/{eid}", "/p/{eid}/result", "/contests/{id}", "/web/payments/{sid}"])
            .flatMap { ["GET \($0)", "POST \($0)"] }
    }

    @Test("A cookie of another site that is not ASCII does not end a login")
    func cookies() async throws {
        let server = try await ServerProcess(more: Browser.arguments)
        let browser = try await Browser.loggedIn("payee@example.com", at: server)
        let cookies = browser.cookies.map { "\($0.key)=\($0.value)" } + ["name=Zoë\u{301}"]
        let headers = ["Cookie": cookies.joined(separator: "; "), "X-Place": "Köln"]
        #expect(try await browser.open("/web/earnings", headers: headers).status == 200)
    }

    @Test("A key that is not ASCII is refused")
    func keys() async throws {
        let server = try await ServerProcess()
        let payer = try await server.wire.login("payer")
        let body = #"{"sid":"01999f00-0000-7000-8000-000000000002"}"#
        let reply = try await server.wire.post(
            "/wallet/send",
            body,
            token: payer,
            key: "schlüssel-0123456789"
        )
        #expect(reply.status == 400 && reply.code == "VALIDATION_ERROR")
    }

    @Test("A memo in any script is kept, and one with 31 marks on a letter is refused")
    func memos() async throws {
        let server = try await ServerProcess()
        let payee = try await server.wire.login("payee")
        for memo in [
            "Cafe\u{301}", "שָׁלוֹם", "ภาษาไทย", "اَلْعَرَبِيَّةُ",
            "e" + String(repeating: "\u{301}", count: 30),
        ] {
            let created = try await server.wire.create(
                payee,
                cents: 5,
                more: #","memo":"\#(memo)""#
            )
            let sid = created.string("sid")
            let shown = try await server.wire.get("/sessions/\(sid)", token: payee).string("memo")
            #expect(Array(shown.utf8) == Array(memo.utf8))
        }
        let marks = "e" + String(repeating: "\u{301}", count: 31)
        for body in [#""memo":"\#(marks)""#, #""memö":"x""#] {
            let reply = try await server.wire.post(
                "/sessions/create",
                "{\"amount_cents\":5,\(body)}",
                token: payee
            )
            #expect(reply.status == 400 && reply.code == "VALIDATION_ERROR")
        }
    }
}
