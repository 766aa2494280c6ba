import PaymentClient
import Testing

@Suite("A server's URL")
struct ServerURLTests {
    @Test(
        "A server's URL is private if it uses TLS or this machine's loopback",
        arguments: [
            ("https://pay.example", true), ("https://pay.example:8443/base/", true),
            ("http://127.0.0.1:8080", true), ("http://localhost", true), ("http://[::1]:80", true),
            ("http://pay.example", false), ("http://10.0.0.1:8080", false),
            ("http://127.255.0.9", true), ("http://127.evil.example", false),
            ("http://127.0.0.1.evil.example:8080", false), ("http://localhost.evil.example", false),
        ]
    )
    func reads(text: String, isPrivate: Bool) throws {
        let url = try #require(ServerURL(text))
        #expect(url.isPrivate == isPrivate)
        #expect(!url.description.hasSuffix("/"))
    }

    @Test(
        "A URL that is malformed or contains a login, a query or a fragment is refused",
        arguments: [
            "", "pay.example", "ftp://x", "http://", "http://:80", "http://user:pw@host",
            "http://host:0", "http://host:99999", "http://host?x=1", "http://host#x", "http://a b",
            "http://[::1", "http://[::1]x", "http://host:+80", "http://host:", "http://host/a\nb",
            "http://host/a\r\nb", "http://host/\u{1B}[2J", "http://host/\u{0}",
            "http://host/\u{7F}", "http://host/\u{202E}x", "http://user@\u{301}host",
            "http://host?\u{301}x=1", "http://host#\u{301}x", "http://h\u{F6}st",
        ]
    )
    func refuses(text: String) {
        #expect(ServerURL(text) == nil)
    }

    @Test("A proxy's URL has http://, a host and a port, and nothing else")
    func proxy() throws {
        let proxy = try #require(ProxyURL("http://proxy.example:3128"))
        #expect(proxy.host == "proxy.example" && proxy.port == 3128)
        #expect(ProxyURL("http://[::1]:8080")?.host == "::1")
        for text in [
            "proxy.example:3128", "https://proxy.example:3128", "http://proxy.example",
            "http://proxy.example:3128/", "http://user:pw@proxy.example:3128",
            "http://proxy.example:+3128", "http://proxy.example:0",
        ] {
            #expect(ProxyURL(text) == nil, "\(text)")
        }
    }
}
