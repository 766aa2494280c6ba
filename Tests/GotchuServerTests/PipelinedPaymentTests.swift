import Foundation
import TestSupport
import Testing

/// Tests of several requests that are sent on one connection before the first reply.
@Suite("Pipelined payments")
struct PipelinedPaymentTests {
    private struct Reply: Decodable {
        let status: Int
        let headers: [String: String]
        let body: String

        var isReplay: Bool { headers["idempotent-replayed"] == "true" }
        var requestID: String? { headers["x-request-id"] }
    }

    private struct Plan: Encodable {
        let pieces: [String]
        let replies: Int
        var half = false
    }

    private let server: ServerProcess
    private let payee: String
    private let payer: String

    init() async throws {
        server = try await ServerProcess()
        payee = try await server.wire.login("payee")
        payer = try await server.wire.login("payer")
    }

    @Test("Pipelined payments and other requests are answered in the order of the requests")
    func pipelined() async throws {
        let first = try await session(cents: 1_000)
        let second = try await session(cents: 2_000)
        let dear = try await session(cents: 9_000)
        let replies = try await play(
            Plan(
                pieces: [
                    payment(first, "first") + outcomeRequest("first") + payment(first, "first")
                        + payment(second, "second") + payment(dear, "dear") + outcomeRequest("none")
                        + payment(second, "second")
                ],
                replies: 7
            )
        )
        #expect(replies.map(\.status) == [200, 200, 200, 200, 402, 404, 200])
        #expect(replies.map(\.isReplay) == [false, false, true, false, false, false, true])
        #expect(replies[0].body.contains(#""new_balance_cents":9000,"#))
        #expect(replies[0].body == replies[2].body && replies[3].body == replies[6].body)
        #expect(replies[3].body.contains(#""new_balance_cents":7000,"#))
        #expect(Set(replies.map(\.requestID)).count == replies.count)
    }

    @Test("A payment is answered after its client has closed its sending side")
    func half() async throws {
        let sid = try await session(cents: 500)
        let replies = try await play(
            Plan(pieces: [payment(sid, "half") + outcomeRequest("half")], replies: 2, half: true)
        )
        #expect(replies.map(\.status) == [200, 200])
    }

    @Test("A body in 5000 chunks is refused as invalid, and a body in 500 chunks is not")
    func pieces() async throws {
        let head = """
            POST /sessions/create HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r
            Transfer-Encoding: chunked\r\n\r\n
            """
        for (count, status) in [(500, 401), (5_000, 400)] {
            let spaces = String(repeating: "1\r\n \r\n", count: count)
            let body = head + spaces + "2\r\n{}\r\n0\r\n\r\n"
            let replies = try await play(Plan(pieces: [body], replies: 1))
            #expect(replies.map(\.status) == [status])
        }
    }

    @Test("A payment is answered, and the unreadable request that follows it gets a 400")
    func broken() async throws {
        let head = """
            POST /sessions/resolve HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n
            """
        let asked = try await session(cents: 500)
        let chunked = try await play(
            Plan(
                pieces: [
                    payment(asked, "chunk") + outcomeRequest("chunk") + head
                        + "Transfer-Encoding: chunked\r\n\r\nZZ\r\n"
                ],
                replies: 3
            )
        )
        #expect(chunked.map(\.status) == [200, 200, 400])
        let paid = try await session(cents: 500)
        let cutOff = try await play(
            Plan(
                pieces: [payment(paid, "cut") + head + "Content-Length: 9\r\n\r\n{"],
                replies: 2,
                half: true
            )
        )
        #expect(cutOff.map(\.status) == [200, 400])
    }

    @Test("A payment whose request arrives in several packets is answered")
    func inSeveralPackets() async throws {
        let sid = try await session(cents: 500)
        let whole = payment(sid, "torn")
        let pieces = [whole.dropLast(70), whole.suffix(70).dropLast(5), whole.suffix(5)]
        let replies = try await play(
            Plan(pieces: pieces.map(String.init) + [payment(sid, "torn")], replies: 2)
        )
        #expect(replies.map(\.status) == [200, 200])
        #expect(replies.map(\.isReplay) == [false, true])
    }

    @Test("A client that does not read, or sends much at once, slows nobody and costs no memory")
    func greedy() async throws {
        struct Outcome: Decodable {
            let unread: Double
            let whole: Int
            let overtaken: Int
        }
        let port = try #require(server.wire.base.split(separator: ":").last)
        let client = try await Python.run("pipelining.py", [String(port)])
        #expect(try await client.exitCode(within: .seconds(120)) == 0, "\(client.text)")
        let outcome = try JSONDecoder().decode(Outcome.self, from: Data(client.text.utf8))
        // The kernel takes some replies, of 80 KB each, and the server keeps one or two.
        #expect((1...150).contains(outcome.unread))
        #expect(outcome.whole == 500)
        // Of 6,000.
        #expect(outcome.overtaken < 1_500)
    }

    private func session(cents: Int) async throws -> String {
        try await server.wire.lockedSession(payee, payer, cents: cents)
    }

    private func payment(_ sid: String, _ key: String) -> String {
        let body = #"{"sid":"\#(sid)"}"#
        return """
            POST /wallet/send HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(payer)\r
            Idempotency-Key: \(name(key))\r\nContent-Type: application/json\r
            Content-Length: \(body.utf8.count)\r\n\r\n\(body)
            """
    }

    private func outcomeRequest(_ key: String) -> String {
        """
        GET /wallet/sends/\(name(key)) HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(payer)\r\n\r\n
        """
    }

    private func name(_ key: String) -> String { "pipelined-payment-\(key)" }

    private func play(_ plan: Plan) async throws -> [Reply] {
        let port = try #require(server.wire.base.split(separator: ":").last)
        let text = String(decoding: try JSONEncoder().encode(plan), as: UTF8.self)
        let client = try await Python.run("raw.py", [String(port), text])
        #expect(try await client.exitCode(within: .seconds(60)) == 0, "\(client.text)")
        return try JSONDecoder().decode([Reply].self, from: Data(client.text.utf8))
    }
}
