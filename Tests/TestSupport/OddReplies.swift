/// More than a thousand kinds of replies that an unknown host may send to an HTTP request.
package enum OddReplies {
    /// A kind of reply: the bytes that are sent before the connection is closed.
    package struct Reply: Sendable {
        package let name: String
        package let bytes: [UInt8]

        init(_ name: String, _ text: String) {
            self.init(name, Array(text.utf8))
        }

        init(_ name: String, _ bytes: [UInt8]) {
            self.name = name
            self.bytes = bytes
        }
    }

    /// Returns replies with each three-digit status, replies with contradictory heads and bodies,
    /// replies of other protocols, and good replies with random damage.
    package static func all() -> [Reply] {
        var random = SeededGenerator("odd replies")
        return (0..<1_000).map(status) + heads + protocols + (0..<200).map { _ in damaged(&random) }
    }

    private static func status(_ code: Int) -> Reply {
        let digits = String(repeating: "0", count: 3 - String(code).count) + String(code)
        let head = "HTTP/1.1 \(digits) X\r\n"
        let shapes = [
            "Content-Length: 0\r\n\r\n", "Content-Length: 2\r\n\r\n{}", "\r\n{}",
            "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
            "A: b\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
        ]
        return Reply("status \(digits), shape \(code % 5)", head + shapes[code % shapes.count])
    }

    private static let heads: [Reply] =
        [
            "", "\r\n", "\n", "H", "HTTP/1.1", "HTTP/1.1 \r\n\r\n", "HTTP/1.1 20\r\n\r\n",
            "HTTP/1.1 2000 OK\r\n\r\n", "HTTP/1.1 99999999999999999999 OK\r\n\r\n",
            "HTTP/1.1 -1 OK\r\n\r\n", "HTTP/1.1 +00 OK\r\n\r\n", "HTTP/1.1 0x1 OK\r\n\r\n",
            "HTTP/0.9 200 OK\r\n\r\n", "HTTP/1.0 000 X\r\n\r\n", "HTTP/2.0 200 OK\r\n\r\n",
            "HTTP/9.9 200 OK\r\n\r\n", "ICY 200 OK\r\n\r\n", "<html>log in to the hotel</html>",
            "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nA", "HTTP/1.1 200 OK\r\n: x\r\n\r\n",
            "HTTP/1.1 200 OK\r\nA b: c\r\n\r\n", "HTTP/1.1 200 OK\r\n folded\r\n\r\n",
            "HTTP/1.1 200 OK\r\nA: \u{0}\r\n\r\n", "HTTP/1.1 200 \u{0}\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 5, 6\r\n\r\nhello",
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
            "HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551616\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort",
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nlong and more",
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n{}",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nA: b\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n{}",
            "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}",
            "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello",
            "HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 000 X\r\n\r\n",
            "HTTP/1.1 103 Early\r\nLink: </>\r\n\r\nHTTP/1.1 099 X\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 101 X\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n\u{0}\u{0}\u{6}\u{4}",
            "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nConnection: keep-alive, close\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nA: " + String(repeating: "a", count: 200_000) + "\r\n\r\n",
            "HTTP/1.1 200 OK\r\n" + String(repeating: "A: b\r\n", count: 20_000) + "\r\n",
            String(repeating: "HTTP/1.1 100 Continue\r\n\r\n", count: 5_000),
            String(repeating: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", count: 50),
            "HTTP/1.1 200 OK\r\nRetry-After: 99999999999999999999\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 503 Busy\r\nRetry-After: -9223372036854775808\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 503 Busy\r\nRetry-After: 9223372036854775807\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 503 Busy\r\nRetry-After: Fri, 31 Dec 99999 23:59:59 GMT\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 100002\r\n\r\n"
                + String(repeating: "[", count: 100_002),
        ].enumerated().map { Reply("head \($0.offset)", $0.element) }

    private static let protocols: [Reply] = [
        // The frames of HTTP/2: SETTINGS, HEADERS with `:status: 000`, and GOAWAY in its own reply.
        Reply("HTTP/2", [0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 5, 1, 5, 0, 0, 0, 1, 8, 3, 48, 48, 48]),
        Reply("HTTP/2 goes away", [0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]),
        Reply("TLS alert", [0x15, 3, 3, 0, 2, 2, 40]),
        Reply("TLS server hello", [0x16, 3, 3, 0, 4, 2, 0, 0, 0]),
        Reply("SSH", "SSH-2.0-OpenSSH_9.2\r\n"),
        Reply("mail", "220 mail.example ESMTP\r\n"),
        Reply("nothing but zeros", [UInt8](repeating: 0, count: 1_000)),
        Reply("all bytes", [UInt8](0...255)),
    ]

    private static func damaged(_ random: inout SeededGenerator) -> Reply {
        var bytes = Array(
            ("HTTP/1.1 200 OK\r\nServer: example\r\nTransfer-Encoding: chunked\r\n\r\n"
                + "2\r\n{}\r\n0\r\n\r\n").utf8
        )
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let place = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<3, using: &random) {
            case 0: bytes[place] = .random(in: 0...255, using: &random)
            case 1: bytes.remove(at: place)
            default: bytes.insert(.random(in: 0...255, using: &random), at: place)
            }
        }
        return Reply("damaged, seed \(random.seed)", bytes)
    }
}
