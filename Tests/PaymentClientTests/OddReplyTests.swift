import AsyncHTTPClient
import Foundation
import GotchuAPI
import GotchuCore
import TestSupport
import Testing

@testable import PaymentClient

/// A test with replies of a server that is not a payment server.
@Suite("Odd replies to a daemon")
struct OddReplyTests {
    private let odd: OddServer
    private let http = HTTPClient(configuration: PaymentClient.httpConfiguration)
    private let client: PaymentClient
    private let session: SessionID
    private let key: IdempotencyKey

    init() throws {
        odd = try OddServer()
        let url = try #require(ServerURL("http://127.0.0.1:\(odd.port)"))
        client = PaymentClient(server: url, http: http)
        session = try #require(SessionID(rawValue: "0123456789abcdef"))
        key = try #require(IdempotencyKey(rawValue: "0123456789abcdef"))
    }

    @Test("No odd reply crashes the client or decides a payment; good replies are accepted later")
    func replies() async throws {
        defer { odd.stop() }
        for (number, reply) in OddReplies.all().enumerated() {
            odd.answer(reply.bytes)
            // No odd reply is a problem document with a code, so no reply is a refusal.
            let answer = await client.send(body: Array("{}".utf8), key: key)
            if case .unknown = answer {} else { Issue.record("\(reply.name): \(answer)") }
            if number.isMultiple(of: 5) {
                let end = await client.followSession(session) { _ in
                    Issue.record("\(reply.name)")
                }
                switch end {
                case .success, .unknown: break
                case .refused, .unauthorized: Issue.record("\(reply.name): \(end)")
                }
                #expect(await client.probe().outage != nil, "\(reply.name)")
            }
        }
        let name = String(repeating: "x", count: 1_000)
        let body =
            #"{"sid":"\#(session)","amount_cents":5,"memo":"\#(name)","#
            + #""payee_display":{"name":"\#(name)"}}"#
        let length = "Content-Length: \(body.utf8.count)\r\n\r\n"
        odd.answer(Array(("HTTP/1.1 200 X\r\nConnection: close\r\n" + length + body).utf8))
        // The first call may fail, because an odd reply has left a connection open that ends now.
        let resolved = try? await eventually("a reply with a long name is accepted") {
            if case .success(let resolved) = await client.resolve(.random()) {
                resolved
            } else {
                nil
            }
        }
        odd.answer(
            Array("HTTP/1.1 404 X\r\nContent-Length: 23\r\n\r\n{\"code\":\"SESSION_PAID\"} ".utf8)
        )
        let problem = try? await eventually("a definite refusal is accepted") {
            if case .refused(let problem) = await client.send(body: [], key: key) {
                problem
            } else {
                nil
            }
        }
        try await http.shutdown()
        #expect(resolved?.payee.name.count == 140 && resolved?.memo?.count == 140)
        #expect(problem?.errorCode == .sessionPaid)
    }

    @Test("A reply with a text over 1 KiB is unreadable; a token may be longer")
    func longTexts() async throws {
        defer { odd.stop() }
        func answer(_ kind: String, _ body: String) {
            let head = "HTTP/1.1 200 X\r\nConnection: close\r\nContent-Type: \(kind)\r\n"
            odd.answer(Array((head + "Content-Length: \(body.utf8.count)\r\n\r\n" + body).utf8))
        }
        for (length, isReadable) in [(1024, true), (1025, false)] {
            let id = String(repeating: "x", count: length)
            let paid = #"{"ok":true,"new_balance_cents":1,"transfer_id":"\#(id)"}"#
            answer("application/json", paid)
            switch await client.send(body: Array("{}".utf8), key: key) {
            case .success(let reply): #expect(isReadable && reply.transferID == id)
            case .unknown(let outage): #expect(!isReadable && outage.code == .unreadable)
            case .refused, .unauthorized: Issue.record("\(length) bytes are a refusal")
            }
            let state =
                #"{"sid":"\#(session)","status":"PAID","amount_cents":5,"kind":"\#(id)","#
                + #""exp_at":"2030-01-01T00:00:00Z","version":1}"#
            answer("text/event-stream", "data: \(state)\n\n")
            var states = 0
            _ = await client.followSession(session) { _ in states += 1 }
            #expect(states == (isReadable ? 1 : 0), "\(length)")
        }
        let token = String(repeating: "x", count: 2_000)
        answer(
            "application/json",
            #"{"access_token":"\#(token)","token_type":"Bearer","expires_in":600,"#
                + #""refresh_token":"r","user_id":"u","scope":""}"#
        )
        let granted = await client.refresh("c")
        try await http.shutdown()
        guard case .success(let reply) = granted else {
            Issue.record("A long token is not accepted")
            return
        }
        #expect(reply.accessToken == token)
    }

    @Test(
        "A stream without a state is given up in time, even if bytes keep coming",
        arguments: [
            // The body of an error, and comments of a stream.
            ("HTTP/1.1 503 X\r\nContent-Length: 200000\r\n\r\n", " "),
            ("HTTP/1.1 200 X\r\nContent-Type: text/event-stream\r\n\r\n", ": k\n\n"),
        ]
    )
    func streamWithoutState(head: String, piece: String) async throws {
        let listener = try LoopbackListener()
        defer {
            listener.stop()
            odd.stop()
        }
        listener.start { connection in
            var buffer = [UInt8](repeating: 0, count: 4096)
            _ = recv(connection, &buffer, buffer.count, 0)
            var bytes = Array(head.utf8)
            while send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL)) > 0 {
                bytes = Array(piece.utf8)
                // SAFETY: the slow pieces are what this server is for.
                Thread.sleep(forTimeInterval: 0.5)
            }
            close(connection)
        }
        let url = try #require(ServerURL("http://127.0.0.1:\(listener.port)"))
        let start = ContinuousClock.now
        let end = await PaymentClient(server: url, http: http).followSession(session) { _ in
            Issue.record("A state is received")
        }
        // The limit is 10 s; the rest is for a busy machine.
        #expect(start.duration(to: .now) < .seconds(35))
        try await http.shutdown()
        guard case .unknown(let outage) = end else {
            Issue.record("\(end)")
            return
        }
        #expect(outage.code == .timedOut)
    }

    @Test("Combining marks in a reply cost the daemon at most four times as much as other text")
    func marks() async throws {
        defer { odd.stop() }
        // Other tests of this process take time too, so the fastest of several calls counts.
        func time(_ status: Int, _ field: String, _ body: String) async -> Int {
            let head = "HTTP/1.1 \(status) X\r\nIdempotent-Replayed: \(field)\r\n"
            let length = "Content-Length: \(body.utf8.count)\r\n\r\n"
            odd.answer(Array((head + length + body).utf8))
            var fastest = Int.max
            for _ in 0..<10 {
                let start = processTime()
                _ = await client.send(body: Array("{}".utf8), key: key)
                fastest = min(fastest, processTime() - start)
            }
            return fastest
        }
        let (long, short) = (60_000, 15_000)
        let names = (0..<800).map { ",\"\($0)\":1" }.joined()
        let bodies: [(Int, (String) -> String)] = [
            (200, { "{\"\($0)\":1}" }), (200, { "{\"\($0)\":1\(names)}" }),
            (200, { "{\"ok\":true,\"transfer_id\":\"\($0)\"}" }), (400, { "{\"code\":\"\($0)\"}" }),
        ]
        for (status, body) in bodies {
            let plain = await time(status, "x", body(String(repeating: "a", count: long)))
            let marked = await time(status, "x", body(.fallingMarks(bytes: long)))
            #expect(marked <= 4 * plain, "\(body("…").prefix(40)): \(marked) ns, \(plain) ns")
        }
        let plain = await time(200, String(repeating: "a", count: short), "{}")
        let marked = await time(200, .fallingMarks(bytes: short), "{}")
        #expect(marked <= 4 * plain, "a header: \(marked) ns, \(plain) ns")
        try await http.shutdown()
    }
}
