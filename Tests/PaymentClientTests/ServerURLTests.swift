import PaymentClient
import Testing

@Suite("A server's URL")
struct ServerURLTests {
    @Test(
        "is read, and it is known whether the way there is private",
        arguments: [
            ("https://pay.example", true), ("https://pay.example:8443/base/", true),
            ("http://127.0.0.1:8080", true), ("http://localhost", true), ("http://[::1]:80", true),
            ("http://pay.example", false), ("http://10.0.0.1:8080", false),
        ]
    )
    func reads(text: String, isPrivate: Bool) throws {
        let url = try #require(ServerURL(text))
        #expect(url.isPrivate == isPrivate)
        #expect(!url.description.hasSuffix("/"))
    }

    @Test(
        "is refused when it is none, or holds a secret",
        arguments: [
            "", "pay.example", "ftp://x", "http://", "http://:80", "http://user:pw@host",
            "http://host:0", "http://host:99999", "http://host?x=1", "http://host#x", "http://a b",
            "http://[::1", "http://[::1]x",
        ]
    )
    func refuses(text: String) {
        #expect(ServerURL(text) == nil)
    }
}
