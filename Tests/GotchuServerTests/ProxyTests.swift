import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOHTTP1
import TestSupport
import Testing

@testable import GotchuServer

/// Tests of a server behind proxies and balancers.
@Suite("Behind proxies")
struct ProxyTests {
    private static func client(
        _ fields: [String],
        from peer: String = "10.0.0.1",
        trusting proxies: String = "10.0.0.0/8, 2001:db8:1::/48"
    ) throws -> TrustedProxies.Client {
        var head = HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/")
        head.headerFields[values: .forwardedFor] = fields
        return try #require(TrustedProxies(proxies)).client(
            of: Request(head: head, body: RequestBody(buffer: ByteBuffer())),
            from: try #require(ClientAddress(peer))
        )
    }

    @Test(
        "The client is the last address that no trusted proxy has, however it is written",
        arguments: [
            (["203.0.113.5"], "203.0.113.5"), (["203.0.113.5:1234"], "203.0.113.5"),
            (["[2001:db8::1]:443"], "2001:db8::1"), (["[2001:db8::1]"], "2001:db8::1"),
            (["2001:DB8::1"], "2001:db8::1"), (["\t203.0.113.5:1 \t"], "203.0.113.5"),
            (["::ffff:203.0.113.5"], "203.0.113.5"), (["[::ffff:203.0.113.5]:9"], "203.0.113.5"),
            // Values that the client sent are ignored: other fields, and earlier elements.
            (["1.2.3.4, 203.0.113.5"], "203.0.113.5"), (["1.2.3.4", "203.0.113.5"], "203.0.113.5"),
            (["nonsense, 203.0.113.5"], "203.0.113.5"), (["203.0.113.5, ,"], "203.0.113.5"),
            // Trusted proxies follow.
            (["1.2.3.4, 203.0.113.5, 10.9.9.9"], "203.0.113.5"),
            (["203.0.113.5:80", "[2001:db8:1::7]:443, 10.1.2.3:4"], "203.0.113.5"),
            (["203.0.113.5,::ffff:10.7.7.7"], "203.0.113.5"),
            // Another address of a trusted network is the client if nothing is before it.
            (["10.8.8.8, 10.9.9.9"], "10.8.8.8"),
        ]
    )
    func read(fields: [String], expected: String) throws {
        let client = try Self.client(fields)
        #expect(client.address.description == expected && client.unreadable == nil)
    }

    @Test("The header of a client that is no trusted proxy is ignored")
    func untrusted() throws {
        for peer in ["203.0.113.9", "11.0.0.1", "9.255.255.255", "2001:db8:2::1"] {
            let client = try Self.client(["198.51.100.7"], from: peer)
            #expect(client.address.description == peer && client.unreadable == nil)
        }
        // One address of IPv6 is one proxy, not all of its network.
        for (peer, expected) in [
            ("2001:db8::1", "198.51.100.7"), ("2001:db8::2", "2001:db8::2"),
        ] {
            let client = try Self.client(["198.51.100.7"], from: peer, trusting: "2001:db8::1")
            #expect(client.address.description == expected)
        }
    }

    @Test(
        "If a trusted proxy names no address, its own counts, and the text is reported",
        arguments: [
            ([], "", "10.0.0.1"), ([""], "", "10.0.0.1"), ([" , "], "", "10.0.0.1"),
            (["203.0.113.5, unknown"], "unknown", "10.0.0.1"),
            (["_hidden, 10.9.9.9"], "_hidden", "10.9.9.9"),
            (["203.0.113.5:x"], "203.0.113.5:x", "10.0.0.1"),
            (["203.0.113.5:99999"], "203.0.113.5:99999", "10.0.0.1"),
            (["[203.0.113.5]"], "[203.0.113.5]", "10.0.0.1"),
            (["[2001:db8::1"], "[2001:db8::1", "10.0.0.1"),
            (["[2001:db8::1]443"], "[2001:db8::1]443", "10.0.0.1"),
            (["203.0.113.256"], "203.0.113.256", "10.0.0.1"),
            ([String(repeating: "1", count: 9_000)], String(repeating: "1", count: 64), "10.0.0.1"),
        ]
    )
    func unreadable(fields: [String], text: String, address: String) throws {
        let client = try Self.client(fields)
        #expect(client.unreadable == text && client.address.description == address)
    }

    @Test("A trusted proxy is an address or a network, but not a network of all addresses")
    func networks() throws {
        for text in [
            "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "10.0.0.0/8/8", "/8", "x", "0.0.0.0/0",
            "::/0", "::/129", "::ffff:10.0.0.0/95", "proxy.example", "10.0.0.1:80",
        ] {
            #expect(TrustedProxies(text) == nil, "\(text)")
        }
        let proxies = try #require(
            TrustedProxies("192.0.2.7,10.32.0.0/11 2001:db8::/33,::ffff:172.16.0.0/108")
        )
        for (text, isTrusted) in [
            ("192.0.2.7", true), ("192.0.2.8", false), ("10.32.0.0", true), ("10.63.255.255", true),
            ("10.64.0.0", false), ("2001:db8:7fff::1", true), ("2001:db8:8000::1", false),
            ("172.31.0.1", true), ("172.32.0.1", false), ("::ffff:10.33.0.1", true),
        ] {
            let address = try #require(ClientAddress(text))
            #expect(proxies.contains(address) == isTrusted, "\(text)")
        }
    }

    @Test("A header that names no client is one warning, and a balancer's own calls are none")
    func warning() async throws {
        let server = try await ServerProcess(more: ["--trusted-proxy", "127.0.0.0/8"])
        func warnings() -> Int {
            server.program.text.components(separatedBy: "does not name the client").count - 1
        }
        for path in ["/healthz", "/readyz", "/metrics"] { _ = try await server.wire.get(path) }
        #expect(warnings() == 0, "\(server.program.text)")
        for value in ["unknown", "203.0.113.5:x", "unknown"] {
            _ = try await server.wire.call(
                "POST",
                "/sessions/resolve",
                #"{"eid":"0000000000"}"#,
                headers: ["X-Forwarded-For": value]
            )
        }
        try await eventually("the warning is logged") { warnings() > 0 ? true : nil }
        #expect(warnings() == 1 && server.program.text.contains("value=unknown"))
    }

    @Test("An idle connection is held for longer than the usual balancers use it again")
    func idle() throws {
        let connector = HTTPConnector(
            responder: { _, _ in Response(status: .ok) },
            connections: ConnectionCounter(
                limit: 1,
                exempt: try #require(TrustedProxies("10.0.0.1"))
            ),
            metrics: RequestMetrics(),
            logger: Logger(label: "test")
        )
        #expect(connector.idleLimit(of: ClientAddress("10.0.0.2")) > TimeAmount.seconds(120))
        #expect(connector.idleLimit(of: ClientAddress("10.0.0.1")) > TimeAmount.seconds(600))
    }

    @Test("Escapes of unreserved characters in a target are decoded once, others are kept")
    func escapes() {
        for (target, expected) in [
            ("/%77allet/%6De", "/wallet/me"), ("/p/%2D%2e%5F%7e%41%7A%30", "/p/-._~Az0"),
            ("/a?%6Bey=%31%26", "/a?key=1%26"), ("/%2F%3F%25%20%C3%A4", "/%2F%3F%25%20%C3%A4"),
            ("/%2541", "/%2541"), ("/%4", "/%4"), ("/%", "/%"), ("/%+4", "/%+4"), ("/%zz", "/%zz"),
            ("/%%41", "/%A"),
            // These make an escape whose byte is no text by itself.
            ("/p?eid=%%43C", "/p?eid=%7F"),
        ] {
            let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: target)
            #expect(head.normalized.uri == expected, "\(target)")
        }
    }

    @Test("An address with escaped plain characters has the route and the limits of the plain one")
    func escapedRoutes() async throws {
        let server = try await ServerProcess(more: Browser.arguments)
        let payee = try await server.wire.login("payee")
        let wire = Wire(base: server.wire.base, isValidated: false)
        let made = try await wire.call(
            "POST",
            "/sess%69ons/%63reate",
            #"{"amount_cents":5}"#,
            token: payee
        )
        #expect(made.status == 200, "\(made.text)")
        let sid = made.string("sid").replacing("-", with: "%2d")
        #expect(try await wire.get("/sessions/\(sid)", token: payee).status == 200)
        let eid = made.string("eid")
        let code = String(eid.utf8.first ?? 0, radix: 16)
        let browser = Browser(server)
        let page = try await browser.open("/%70/%\(code)\(eid.dropFirst())")
        #expect(page.status == 200 && page.title == "Pay")
        // A slash that is escaped is a part of a name, not of the path.
        #expect(try await wire.get("/sessions%2Fcreate").status == 404)
        // Unknown EIDs count towards one limit.
        for guess in 0..<20 { _ = try await browser.open("/%70/00000000\(10 + guess)") }
        #expect(try await browser.open("/p/0000000000").status == 429)
    }
}
