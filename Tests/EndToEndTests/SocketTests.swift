import Foundation
import GotchuCore
import TestSupport
import Testing

@testable import GotchuAPI

@Suite("The daemon's socket and its process")
struct SocketTests {
    private func curl(_ device: Device, _ arguments: String...) async throws -> String {
        let program = try Program(
            "/usr/bin/curl",
            ["--silent", "--max-time", "10", "--unix-socket", device.socket] + arguments
        )
        try await program.exitCode()
        return program.text
    }

    private func problem(_ device: Device, _ arguments: [String]) async throws -> Problem {
        let program = try Program(
            "/usr/bin/curl",
            ["--silent", "--max-time", "10", "--unix-socket", device.socket] + arguments
        )
        try await program.exitCode()
        return try JSONDecoder().decode(Problem.self, from: Data(program.text.utf8))
    }

    @Test("A reply of the socket names the daemon's version, and calls of web pages are refused")
    func headers() async throws {
        let shop = try await Shop()
        let device = try await shop.daemon("kiosk", at: "0,0")
        let reply = try await curl(device, "--include", "http://gotchu/v1/status")
        #expect(reply.contains("Gotchu-Version: 0."))
        #expect(reply.contains("Gotchu-API: 1"))
        for header in [
            "Origin: http://evil.example", "Referer: http://evil.example/",
            "Sec-Fetch-Site: cross-site", "Sec-Fetch-Site: same-site",
            "Sec-Fetch-Site: same-origin", "Host: evil.example", "Host: evil.example:8080",
            "Host: 192.0.2.1", "Host: 127.0.0.1.evil.example", "Host: [2001:db8::1]",
        ] {
            let refused = try await problem(device, ["-H", header, "http://gotchu/v1/status"])
            #expect(refused.errorCode == .browserRefused, "\(header)")
        }
        for host in ["localhost", "LOCALHOST:80", "unix", "127.0.0.1:8080", "[::1]:8080", ""] {
            let head = "GET /v1/status HTTP/1.1\r\nHost: \(host)\r\n\r\n"
            let reply = await UnixHTTP.exchange(head, at: device.socket)
            #expect(reply.hasPrefix("HTTP/1.1 200 "), "\(host): \(reply)")
        }
        // The host of an absolute target counts, not the field.
        let evil = "evil.example"
        for (target, host, status) in [(evil, "unix", 403), ("unix", evil, 200)] {
            let head = "GET http://\(target)/v1/status HTTP/1.1\r\nHost: \(host)\r\n\r\n"
            let reply = await UnixHTTP.exchange(head, at: device.socket)
            #expect(reply.hasPrefix("HTTP/1.1 \(status) "), "\(target): \(reply)")
        }
    }

    @Test("Two Host fields are refused, and HTTP/1.0 or `Connection: Close` ends the connection")
    func oldAndOdd() async throws {
        let shop = try await Shop()
        let device = try await shop.daemon("kiosk", at: "0,0")
        for target in ["/v1/status", "http://gotchu/v1/status"] {
            let two = "GET \(target) HTTP/1.1\r\nHost: gotchu\r\nHost: gotchu\r\n\r\n"
            let refused = await UnixHTTP.exchange(two, at: device.socket)
            #expect(refused.hasPrefix("HTTP/1.1 400 ") && refused.contains("VALIDATION_ERROR"))
        }
        for head in [
            "GET /v1/status HTTP/1.0\r\n\r\n",
            "GET /v1/status HTTP/1.1\r\nHost: gotchu\r\nConnection: Close\r\n\r\n",
        ] {
            let connection = try #require(UnixHTTP.connected(to: device.socket))
            defer { close(connection) }
            // Both requests are sent at once; the daemon ignores the second request.
            #expect(send(connection, head + head, head.utf8.count * 2, 0) == head.utf8.count * 2)
            let began = ContinuousClock.now
            var (reply, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 4096))
            while case let count = read(connection, &buffer, buffer.count), count > 0 {
                reply += buffer[..<count]
            }
            // The connection ends well before the time limit on silence.
            #expect(began.duration(to: .now) < .seconds(8))
            let text = String(decoding: reply, as: UTF8.self)
            #expect(text.components(separatedBy: "HTTP/1.1 200 ").count == 2, "\(text)")
        }
    }

    @Test("A call with a method that a path does not support gets the supported methods")
    func methods() async throws {
        let shop = try await Shop()
        let device = try await shop.daemon("kiosk", at: "0,0")
        let put = try await curl(device, "-i", "-X", "PUT", "http://gotchu/v1/requests")
        #expect(put.hasPrefix("HTTP/1.1 405"), "\(put)")
        #expect(put.contains("Allow: POST, GET, HEAD\r\n"), "\(put)")
        let events = try await curl(device, "--head", "http://gotchu/v1/events")
        #expect(events.contains("Allow: GET\r\n"), "\(events)")
        for method in ["PUT", "TRACE"] {
            let reply = try await curl(device, "-i", "-X", method, "http://gotchu/v1/login")
            #expect(reply.contains("Allow: POST, DELETE\r\n"), "\(reply)")
        }
        let status = try await curl(device, "--include", "http://gotchu/v1/status")
        #expect(status.hasPrefix("HTTP/1.1 200"))
    }

    @Test("A client that expects 100 Continue before it sends its body receives it")
    func expectation() async throws {
        let shop = try await Shop()
        let device = try await shop.daemon("kiosk", at: "0,0")
        // The client does not send the body: the daemon's 100 Continue comes before it.
        let head = "POST /v1/resolve HTTP/1.1\r\nHost: gotchu\r\nContent-Length: 24\r\n"
        for expectation in ["100-continue", "100-Continue"] {
            let waiting = head + "Expect: \(expectation)\r\n\r\n"
            let reply = await UnixHTTP.exchange(waiting, at: device.socket)
            #expect(reply.hasPrefix("HTTP/1.1 100 Continue\r\n\r\n"), "\(reply)")
        }
        let sent = head + "Expect: 100-continue\r\n\r\n" + #"{"eid": "0123456789abcde"}"#
        let reply = await UnixHTTP.exchange(sent, at: device.socket)
        #expect(reply.contains("\r\n\r\nHTTP/1.1 400 Bad Request\r\n"), "\(reply)")
    }

    @Test("Doctor names the configured group to a user outside it, and a missing group is logged")
    func group() async throws {
        let shop = try await Shop()
        for (name, isThere) in [("daemon", true), ("no-such-group", false)] {
            let file = try shop.folder.write(#"{"group": "\#(name)"}"#, to: "\(name).json")
            let device = Device(name: name, shop: shop)
            try await device.start(extra: ["--config", file])
            #expect(try device.log().contains("no such group") == !isThere)
            guard isThere, geteuid() == 0 else { continue }
            chmod(shop.folder.path, 0o711)
            let doctor = try Program(
                "/usr/bin/setpriv",
                [
                    "--reuid=65534", "--regid=65534", "--clear-groups",
                    "\(Program.folder.path)/gotchu-ctl", "doctor", "--socket", device.socket,
                ]
            )
            try await doctor.exitCode()
            #expect(doctor.text.contains("→ sudo usermod -aG daemon USER\n"), "\(doctor.text)")
        }
    }

    @Test("The reply to a HEAD request has no body")
    func headAlone() async throws {
        let shop = try await Shop()
        let device = try await shop.daemon("kiosk", at: "0,0")
        for (path, status) in [
            ("/v1/status", 200), ("/metrics", 200), ("/v1/requests/unknown", 404),
            ("/v1/events", 405), ("/v1/nothing", 404),
        ] {
            let reply = await UnixHTTP.exchange(
                "HEAD \(path) HTTP/1.1\r\nHost: gotchu\r\n\r\n",
                at: device.socket
            )
            #expect(reply.hasPrefix("HTTP/1.1 \(status) "), "\(reply)")
            #expect(reply.hasSuffix("\r\n\r\n"), "\(reply)")
        }
    }

    @Test("The reply to bad input is a problem with the right code and status")
    func badInput() async throws {
        let shop = try await Shop()
        let device = try await shop.daemon("kiosk", at: "0,0")
        let requests = "http://gotchu/v1/requests"
        let big = try shop.folder.write(String(repeating: " ", count: 70_000), to: "big")
        let cases: [([String], ErrorCode)] = [
            (["http://gotchu/v2/status"], .notFound),
            (["-d", "{", requests], .validationError),
            (["-d", "{}", requests], .validationError),
            (["-d", #"{"amount_cents":"50"}"#, requests], .validationError),
            (["-d", #"{"amount_cents":50.5}"#, requests], .validationError),
            (["--data-binary", "@\(big)", requests], .contentTooLarge),
            (["http://gotchu/v1/requests/unknown"], .notFound),
            (["http://gotchu/v1/payments/unknown"], .notFound),
            (["-d", #"{"amount_cents":1,"memo":"a\nb"}"#, requests], .validationError),
            (["-d", #"{"amount_cents":99999999999999999999}"#, requests], .validationError),
            (["-X", "PUT", requests], .methodNotAllowed),
            (["-X", "DELETE", "http://gotchu/v1/status"], .methodNotAllowed),
            (["-d", #"{"confirm_amount_cents":1}"#, "http://gotchu/v1/payments"], .notLoggedIn),
            (["-d", "{}", "http://gotchu/v1/login"], .validationError),
            (["http://gotchu/v1/wallet"], .notLoggedIn),
        ]
        for (arguments, code) in cases {
            let refused = try await problem(device, arguments)
            #expect(refused.errorCode == code, "\(arguments)")
            #expect(refused.status == code.httpStatus)
        }
    }

    @Test("A body that breaks off or has an invalid chunk is answered with 400")
    func brokenBody() async throws {
        let shop = try await Shop()
        let device = try await shop.daemon("kiosk", at: "0,0")
        let start = "POST /v1/requests HTTP/1.1\r\nHost: gotchu\r\n"
        for rest in ["Content-Length: 100\r\n\r\n{", "Transfer-Encoding: chunked\r\n\r\nzz\r\n"] {
            let reply = await UnixHTTP.exchange(start + rest, at: device.socket)
            #expect(reply.hasPrefix("HTTP/1.1 400 "), "\(reply)")
            #expect(reply.contains("VALIDATION_ERROR"), "\(reply)")
        }
    }

    @Test("A body whose announced length is too large is answered at once with 413")
    func announcedBody() async throws {
        let shop = try await Shop()
        let device = try await shop.daemon("kiosk", at: "0,0")
        let start = "POST /v1/requests HTTP/1.1\r\nHost: gotchu\r\n"
        let head = start + "Content-Length: 10000000000\r\n\r\n"
        let reply = await UnixHTTP.exchange(head, at: device.socket)
        #expect(reply.hasPrefix("HTTP/1.1 413 ") && reply.contains("CONTENT_TOO_LARGE"), "\(reply)")
    }

    @Test("A request with an unreadable or oversized head is answered with 400 and no body")
    func badHead() async throws {
        let shop = try await Shop()
        let device = try await shop.daemon("kiosk", at: "0,0")
        let start = "GET /v1/status HTTP/1.1\r\nHost: gotchu\r\n"
        let field = { (length: Int) in "X-A: \(String(repeating: "x", count: length))\r\n" }
        let fields = { (count: Int) in String(repeating: field(1), count: count) }
        for head in ["no head\r\n", start + field(17_000), start + fields(100)] {
            let reply = await UnixHTTP.exchange(head + "\r\n", at: device.socket)
            #expect(reply.hasPrefix("HTTP/1.1 400 "), "\(reply)")
            #expect(reply.hasSuffix("\r\n\r\n"), "\(reply)")
        }
        // White space counts, too: the connection ends long before all of it was sent.
        let script = """
            import socket, sys
            client = socket.socket(socket.AF_UNIX)
            client.connect(sys.argv[1])
            client.sendall(b"GET / HTTP/1.1\\r\\nX:")
            try:
                for _ in range(1024):
                    client.sendall(b" " * 65536)
            except (BrokenPipeError, ConnectionResetError):
                print("closed")
            """
        let blank = try Program("/usr/bin/python3", ["-c", script, device.socket])
        #expect(try await blank.exitCode() == 0 && blank.text == "closed\n", "\(blank.text)")
        for head in [start + field(15_000), start + fields(99)] {
            let reply = await UnixHTTP.exchange(head + "\r\n", at: device.socket)
            #expect(reply.hasPrefix("HTTP/1.1 200 "), "\(reply)")
        }
    }

    @Test(
        "A listed user has the listed level, and an unlisted user is refused at every tried path",
        .enabled(if: geteuid() == 0, "only root can become somebody else")
    )
    func levels() async throws {
        let shop = try await Shop()
        let device = Device(name: "kiosk", shop: shop)
        let (observer, cashier, spender, stranger) = (65001, 65002, 65003, 65004)
        let file = try shop.folder.write(
            """
            {"observer_uids": [\(observer)], "cashier_uids": [\(cashier)],
             "spender_uids": [\(spender)]}
            """,
            to: "levels.json"
        )
        try await device.start(extra: ["--config", file])
        // As on a file system without lists of users: the daemon itself must refuse a stranger.
        chmod(device.socket, 0o666)
        for user in [observer, cashier, spender] {
            let status = try await device.curl(as: user, "/v1/status")
            #expect(status.contains("is_ready"), "\(user): \(status)")
        }
        #expect(try await device.curl(as: cashier, "/v1/requests").contains("\"requests\""))
        #expect(try await device.curl(as: spender, "/v1/payments").contains("\"payments\""))
        for (user, method, path) in [
            (observer, "POST", "requests"), (observer, "GET", "requests"),
            (observer, "POST", "payments"), (observer, "GET", "wallet"),
            (observer, "POST", "login"), (observer, "POST", "reload"),
            (observer, "POST", "resolve"), (cashier, "GET", "payments"),
            (cashier, "POST", "login"), (spender, "GET", "requests"), (spender, "POST", "reload"),
            (stranger, "GET", "status"), (stranger, "GET", "events"), (stranger, "GET", "nothing"),
            (stranger, "PUT", "status"), (stranger, "POST", "requests"),
        ] {
            let arguments = ["-X", method, "-d", "{}"]
            let text = try await device.curl(as: user, "/v1/\(path)", arguments)
            #expect(text.contains("NOT_PERMITTED"), "\(user) \(method) \(path): \(text)")
        }
        let metrics = try await device.curl(as: stranger, "/metrics")
        #expect(metrics.contains("User id \(stranger) may not use gotchud"), "\(metrics)")
    }

    @Test(
        "A user with the maximum of event readers gets no more, but another user gets one",
        .enabled(if: geteuid() == 0, "only root can become somebody else")
    )
    func shareOfReaders() async throws {
        let shop = try await Shop()
        let device = Device(name: "kiosk", shop: shop)
        let file = try shop.folder.write(#"{"observer_uids": [65534]}"#, to: "kiosk.json")
        try await device.start(extra: ["--config", file])
        chmod(shop.folder.path, 0o711)
        let readers = try EventReaders(128, at: device.socket)
        defer { readers.close() }
        let refused = try await problem(device, ["http://gotchu/v1/events"])
        #expect(refused.errorCode == .rateLimited)
        let stranger = try Program(
            "/usr/bin/setpriv",
            [
                "--reuid=65534", "--regid=65534", "--clear-groups", "/usr/bin/curl", "--silent",
                "--no-buffer", "--unix-socket", device.socket, "http://gotchu/v1/events",
            ]
        )
        let answer = try await eventually("the other user is answered") {
            stranger.text.isEmpty ? nil : stranger.text
        }
        #expect(answer.contains("snapshot"), "\(answer)")
    }

    @Test("A second daemon refuses to start with the socket or state folder of a running daemon")
    func inUse() async throws {
        let shop = try await Shop()
        let device = try await shop.daemon("kiosk", at: "0,0")
        let second = try Program(
            "gotchud",
            ["--socket", device.socket, "--state", "\(shop.folder.path)/other"]
        )
        #expect(try await second.exitCode() == 69)
        #expect(second.text.contains("Another gotchud serves"))
        let folder = "\(shop.folder.path)/kiosk"
        let third = try Program(
            "gotchud",
            ["--socket", "\(shop.folder.path)/other.sock", "--state", folder]
        )
        #expect(try await third.exitCode() == 69, "\(third.text)")
        #expect(third.text.contains("Another gotchud uses the state folder \(folder)."))
        let status = try await device.get("/v1/status", as: StatusReply.self)
        #expect(status.version.hasPrefix("0."))
    }

    @Test("SIGTERM ends the daemon with 0 and removes the socket")
    func drains() async throws {
        let shop = try await Shop()
        let device = try await shop.daemon("kiosk", at: "0,0")
        try device.signal(SIGTERM)
        #expect(try await device.exitCode() == 0)
        #expect(!FileManager.default.fileExists(atPath: device.socket))
    }

    @Test("SIGHUP applies a changed configuration; an invalid one is reported and changes nothing")
    func reload() async throws {
        let shop = try await Shop()
        let file = try shop.folder.write(#"{"spender_uids": [1]}"#, to: "gotchud.json")
        let device = Device(name: "kiosk", shop: shop)
        try await device.start(extra: ["--config", file])
        // A change of the rules ends the streams of all readers.
        let reader = try Program(
            "/usr/bin/curl",
            [
                "--silent", "--no-buffer", "--unix-socket", device.socket,
                "http://gotchu/v1/events",
            ]
        )
        try await eventually("the reader has a snapshot") {
            reader.text.contains("snapshot") ? true : nil
        }
        _ = try shop.folder.write("{\n\"spendr_uids\": [1]\n}", to: "gotchud.json")
        try device.signal(SIGHUP)
        let item = try await eventually("the status names the invalid line") {
            let status = try await device.get("/v1/status", as: StatusReply.self)
            let item = status.health.first { $0.code == "configuration-invalid" }
            return item?.text.contains("gotchud.json:2") == true ? item : nil
        }
        let arguments = item.fix.split(separator: " ")
        #expect(arguments.contains("--check-config") && arguments.contains { $0 == file })
        #expect(reader.isRunning)
        _ = try shop.folder.write(#"{"spender_uids": []}"#, to: "gotchud.json")
        try device.signal(SIGHUP)
        try await reader.exitCode()
        try await eventually("the status no longer names the configuration") {
            let status = try await device.get("/v1/status", as: StatusReply.self)
            return status.health.contains { $0.code == "configuration-invalid" } ? nil : true
        }
    }
}
