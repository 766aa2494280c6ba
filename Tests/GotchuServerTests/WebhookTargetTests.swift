import GotchuCore
import Testing

@testable import GotchuServer

/// Tests of the check that keeps webhooks out of the server's own network.
@Suite("Allowed targets of webhooks")
struct WebhookTargetTests {
    @Test(
        "A reserved address does not count as public",
        arguments: [
            "127.0.0.1", "127.255.255.254", "0.0.0.0", "10.1.2.3", "172.16.0.1", "172.31.255.255",
            "192.168.1.1", "169.254.169.254", "100.64.0.1", "100.127.255.255", "192.0.0.1",
            "192.0.2.1", "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1",
            "240.0.0.1", "255.255.255.255", "::1", "::", "fe80::1", "fc00::1", "fd12::1", "ff02::1",
            "::ffff:127.0.0.1", "::ffff:8.8.8.8", "64:ff9b::7f00:1", "2001:db8::1", "2002:7f00:1::",
            "2001::1", "3fff::1",
            // Spellings that a resolver accepts as addresses.
            "127.1", "2130706433", "0x7f000001", "017700000001",
        ]
    )
    func reserved(text: String) {
        let addresses = NetworkAddress.all(of: text)
        #expect(!addresses.isEmpty)
        #expect(addresses.allSatisfy { !$0.isPublic }, "\(addresses.map(\.text))")
    }

    @Test(
        "An address outside the reserved ranges counts as public",
        arguments: ["8.8.8.8", "172.32.0.1", "100.128.0.1", "193.0.0.1", "2606:4700::1", "2a00::1"]
    )
    func open(text: String) {
        #expect(NetworkAddress.all(of: text).map(\.text) == [text])
        #expect(NetworkAddress.all(of: text).allSatisfy { $0.isPublic })
    }

    @Test("A webhook URL is stored with a lower-case host, a path and no default port")
    func spelling() {
        #expect(
            WebhookURL("HTTPS://Shop.Example/Hook?a=B")?.text == "https://shop.example/Hook?a=B"
        )
        #expect(WebhookURL("https://shop.example")?.text == "https://shop.example/")
        #expect(WebhookURL("https://shop.example:443/a")?.text == "https://shop.example/a")
        #expect(WebhookURL("https://shop.example:8443?a")?.text == "https://shop.example:8443/?a")
        #expect(
            WebhookURL("https://[::FFFF:127.0.0.1]:1/")?.text == "https://[::ffff:127.0.0.1]:1/"
        )
    }

    @Test(
        "A webhook URL with another scheme, a user, a fragment or a malformed host is refused",
        arguments: [
            "", "shop.example", "ftp://shop.example/", "https://", "https:///x",
            "https://user@shop.example/", "https://user:pass@shop.example/", "https://a b/",
            "https://shop.example/#x", "https://shop.example:0/", "https://shop.example:99999/",
            "https://shop_example/", "https://[::1", "https://[]/", "https://[::1]x/",
            "https://shop.example\\@10.0.0.1/", "https://sh\u{F6}p.example/",
            "https://a%41.example/",
            "https://shop.example:/", "javascript:alert(1)",
        ]
    )
    func malformed(text: String) {
        #expect(WebhookURL(text) == nil)
    }

    @Test("Webhooks go over https to public addresses, and in development also to loopback")
    func development() throws {
        let here = NetworkAddress.all(of: "127.0.0.1")
        let inside = NetworkAddress.all(of: "10.0.0.1")
        let outside = NetworkAddress.all(of: "8.8.8.8")
        let plain = try #require(WebhookURL("http://shop.example/"))
        let secure = try #require(WebhookURL("https://shop.example/"))
        #expect(throws: Never.self) {
            try WebhookTarget(plain, isDevelopment: true, addresses: here)
        }
        #expect(throws: Never.self) {
            try WebhookTarget(secure, isDevelopment: true, addresses: here)
        }
        #expect(throws: Never.self) {
            try WebhookTarget(secure, isDevelopment: false, addresses: outside)
        }
        let refused: [(WebhookURL, Bool, [NetworkAddress])] = [
            (plain, false, outside), (plain, false, here), (plain, true, outside),
            (secure, false, here), (secure, true, inside), (secure, false, inside),
            // A name with a public and a private address is refused: either could be used.
            (secure, false, outside + inside), (secure, true, here + inside), (secure, true, []),
        ]
        for (url, isDevelopment, addresses) in refused {
            #expect(throws: WebhookTarget.Refusal.self) {
                try WebhookTarget(url, isDevelopment: isDevelopment, addresses: addresses)
            }
        }
    }

    @Test(
        "The shortest delay doubles up to half an hour, and a longer Retry-After replaces it"
    )
    func schedule() {
        let schedule = WebhookSchedule()
        #expect(schedule.delay(after: 1, retryAfter: nil, jitter: 0) == .seconds(2.5))
        #expect(schedule.delay(after: 2, retryAfter: nil, jitter: 0) == .seconds(5))
        #expect(schedule.delay(after: 4, retryAfter: nil, jitter: 0) == .seconds(20))
        #expect(schedule.delay(after: 1_000, retryAfter: nil, jitter: 0) == .seconds(1_800))
        #expect(schedule.delay(after: 1, retryAfter: .seconds(90), jitter: 0) == .seconds(90))
    }

    @Test(
        "A receiver's Retry-After is read as seconds or a date, and other text is ignored",
        arguments: [
            ("7", .seconds(7)), ("-7", .zero), ("Thu, 01 Jan 1970 00:01:40 GMT", .seconds(90)),
            ("Thu, 01 Jan 1970 00:00:01 GMT", .zero), ("soon", nil), (nil, nil),
        ] as [(String?, Duration?)]
    )
    func retryAfter(text: String?, wait: Duration?) {
        let answer = {
            WebhookSender.answer($0, retryAfter: text, at: Timestamp(milliseconds: 10_000))
        }
        #expect(answer(204) == .accepted)
        #expect(answer(410) == .gone)
        #expect(answer(503) == .refused("HTTP 503.", retryAfter: wait))
        #expect(answer(302) == .refused("HTTP 302.", retryAfter: wait))
    }
}
