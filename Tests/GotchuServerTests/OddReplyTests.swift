import AsyncHTTPClient
import Foundation
import GotchuCore
import Ledger
import Outbox
import TestSupport
import Testing

@testable import GotchuServer

/// Tests of unusual replies from hosts that the server calls.
@Suite("Unusual replies to the server", .timeLimit(.minutes(hangLimit)))
struct OddReplyTests {
    @Test("No unusual reply of a receiver ends the process, and a valid reply is still accepted")
    func webhooks() async throws {
        let rig = try await WebhookRig(.sqlite)
        let odd = try OddServer()
        defer { odd.stop() }
        let url = "http://127.0.0.1:\(odd.port)/"
        let endpoint = WebhookEndpoint(id: "odd", url: url, owner: nil, createdAt: .now)
        try await rig.outbox.add(endpoint, secret: WebhookSecret.random().bytes)
        try await rig.happen(1)
        let claimed = try await rig.outbox.claim(
            for: "odd",
            at: .now,
            until: .now,
            limit: 1
        )
        let delivery = try #require(claimed.first)
        let sender = WebhookSender(isDevelopment: true)
        for reply in OddReplies.all() {
            odd.answer(reply.bytes)
            let answer = await sender.send(delivery, at: .now)
            guard reply.name.hasPrefix("status "), let code = Int(reply.name.dropFirst(7).prefix(3))
            else { continue }
            switch code {
            case 100..<200: break  // Informational: the next reply counts.
            case 200..<300: #expect(answer == .accepted, "\(reply.name)")
            case 410: #expect(answer == .gone, "\(reply.name)")
            default: #expect(answer != .accepted && answer != .gone, "\(reply.name): \(answer)")
            }
        }
        odd.answer(after: 17, "HTTP/1.1 204 No Content\r\n\r\n")
        let refused = WebhookSender.Answer.refused("No answer: UnreadableReply.", retryAfter: nil)
        #expect(await sender.send(delivery, at: .now) == refused)
        odd.answer(after: 16, "HTTP/1.1 204 No Content\r\n\r\n")
        // The first attempt may fail on a connection that an unusual reply left open.
        try await eventually("a valid reply is accepted") {
            await sender.send(delivery, at: .now) == .accepted ? true : nil
        }
    }

    @Test("No unusual reply of a key host ends the process, and a valid key set is still read")
    func keys() async throws {
        let odd = try OddServer()
        defer { odd.stop() }
        let source = try #require(KeySource("http://127.0.0.1:\(odd.port)/keys"))
        let http = HTTPClient(configuration: KeySource.httpConfiguration)
        for reply in OddReplies.all() {
            odd.answer(reply.bytes)
            let bytes = try? await source.load(http)
            if reply.name.hasPrefix("status 0") { #expect(bytes == nil, "\(reply.name)") }
        }
        odd.answer(inPieces: 4_097)
        await #expect(throws: (any Error).self) { try await source.load(http) }
        odd.answer(inPieces: 4_096)
        let isWhole = try? await eventually("a reply in many pieces is read") {
            (try? await source.load(http))?.count == 4_096 ? true : nil
        }
        odd.answer(Array("HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n{\"keys\":[]}".utf8))
        // The first attempt may fail on a connection that an unusual reply left open.
        let isRead = try? await eventually("a valid reply is read") {
            (try? await source.load(http)) == Array(#"{"keys":[]}"#.utf8) ? true : nil
        }
        try await http.shutdown()
        #expect(isWhole == true && isRead == true)
    }
}

extension OddServer {
    /// Answers with this many informational replies and then a final reply.
    fileprivate func answer(after number: Int, _ reply: String) {
        let early = String(repeating: "HTTP/1.1 103 Early Hints\r\n\r\n", count: number)
        answer(Array((early + reply).utf8))
    }

    /// Answers with a key set of this many bytes, in chunks of one byte.
    fileprivate func answer(inPieces number: Int) {
        let set = #"{"keys":[]}"#
        let text = String(repeating: " ", count: number - set.utf8.count) + set
        let chunks = text.map { "1\r\n\($0)\r\n" }.joined()
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        answer(Array((head + chunks + "0\r\n\r\n").utf8))
    }
}
