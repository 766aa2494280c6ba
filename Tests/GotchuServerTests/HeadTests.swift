import Foundation
import HTTPTypes
import Hummingbird
import TestSupport
import Testing

@testable import GotchuServer

/// Tests of HEAD and of the query on each route that answers GET.
@Suite("HEAD and queries of all routes")
struct HeadTests {
    private let server: ServerProcess
    private var wire: Wire { server.wire }
    private let browser: Browser
    private let token: String
    private let paths: [String]

    init() async throws {
        server = try await ServerProcess(more: Browser.arguments + ["--contests"])
        browser = try await Browser.loggedIn("ada@shop.example", at: server)
        token = try await server.wire.login("ada")
        let made = try await server.wire.create(token, cents: 5)
        let contest = try await server.wire.post(
            "/api/contests",
            ContestRig.body(),
            token: token,
            key: ContestRig.key()
        )
        let page = try await browser.open("/web/earnings")
        let asset = try #require(page.text.firstMatch(of: /"\/assets\/([^"]+)"/)?.output.1)
        let values = [
            "sid": made.string("sid"), "eid": made.string("eid"), "id": contest.string("id"),
            "key": ContestRig.key(), "name": String(asset), "device": "x", "endpoint": "x",
        ]
        paths = try Routes.addresses(
            of: ["web": "true", "public_url": Browser.usualOrigin, "contests": "true"]
        )
        .filter { $0.method == .get }
        .map { route in
            let parts = route.path.description.split(separator: "/").map { part in
                guard part.hasPrefix("{"), part.hasSuffix("}") else { return String(part) }
                return values[String(part.dropFirst().dropLast())] ?? "?"
            }
            return "/" + parts.joined(separator: "/")
        }
        #expect(paths.count > 40 && !paths.contains { $0.contains("?") }, "\(paths)")
    }

    @Test("HEAD of each route has the status and the headers of GET, and no body")
    func all() async throws {
        // A problem document contains the request's id, so its length depends on it.
        let headers = [
            "Host": "127.0.0.1:7777", "Authorization": "Bearer \(token)", "X-Request-ID": "same",
            "Cookie": browser.cookies.map { "\($0.key)=\($0.value)" }.joined(separator: "; "),
        ]
        let order = try JSONSerialization.data(
            withJSONObject: ["headers": headers, "paths": paths]
        )
        let port = try #require(wire.base.split(separator: ":").last)
        let heads = try await Python.run(
            "head.py",
            [String(port), String(decoding: order, as: UTF8.self)]
        )
        #expect(try await heads.exitCode(within: .seconds(120)) == 0, "\(heads.text)")
        #expect(heads.text == "{}\n", "\(heads.text)")
    }

    @Test(
        "A link to a page opens with the parameters that messengers add, and the API refuses them"
    )
    func lengthened() async throws {
        let more = "fbclid=IwAR0_-x&utm_source=a&utm_source=b&gclid=1&user=7&%C3%A4=%C3%A4"
        var opened = 0
        for path in paths {
            let plain = try await browser.open(path)
            guard plain.header("Content-Type")?.hasPrefix("text/html") == true else { continue }
            let page = try await browser.open("\(path)?\(more)")
            #expect(page.status == plain.status && page.title == plain.title, "\(path)")
            opened += 1
        }
        #expect(opened > 10)
        for path in ["/api/wallet/balance", "/api/payments/earnings", "/api/contests"] {
            let reply = try await wire.get("\(path)?fbclid=1", token: token)
            #expect(reply.code == "VALIDATION_ERROR", "\(path)")
        }
    }

    @Test("Each reply forbids browsers to guess its type")
    func types() async throws {
        let replies = [
            try await wire.get("/healthz"), try await wire.get("/nothing"),
            try await wire.get("/openapi.yaml"), try await wire.get("/api/wallet/balance"),
            try await wire.post("/sessions/resolve", "x"),
        ]
        for reply in replies { #expect(reply.headers["x-content-type-options"] == "nosniff") }
    }
}
