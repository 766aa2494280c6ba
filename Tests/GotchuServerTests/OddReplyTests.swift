import AsyncHTTPClient
import Foundation
import GotchuCore
import Ledger
import Outbox
import TestSupport
import Testing

@testable import GotchuServer

/// Tests of unusual replies from hosts that the server calls.
@Suite("Unusual replies to the server")
struct OddReplyTests {
    @Test("No unusual reply of a receiver ends the process, and a valid reply is still accepted")
    func webhooks() async throws {
        let rig = try await WebhookRig(.sqlite)
        let odd = try OddServer()
        defer { odd.stop() }
        let url = "http://127.0.0.1:\(odd.port)/"
        let endpoint = WebhookEndpoint(id: "odd", url: url, owner: nil, createdAt: .now)
        try await rig.outbox.add(endpoint, secret: WebhookSecret.random().bytes)
        try await rig.makeEvents(1)
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
            Self.expect(await sender.send(delivery, at: .now), for: reply)
        }
        odd.answer(after: 17, "HTTP/1.1 204 No Content\r\n\r\n")
        let refused = WebhookSender.Answer.refused("No answer: UnreadableReply.", retryAfter: nil)
        #expect(await sender.send(delivery, at: .now) == refused)
        let blank = String(repeating: " ", count: 400_000)
        odd.answer(Array("HTTP/1.1 204 No Content\r\nA:\(blank)b\r\n\r\n".utf8))
        #expect(await sender.send(delivery, at: .now) != .accepted)
        odd.answer(after: 16, "HTTP/1.1 204 No Content\r\n\r\n")
        // The first attempt may fail on a connection that an unusual reply left open.
        try await eventually("a valid reply is accepted") {
            await sender.send(delivery, at: .now) == .accepted ? true : nil
        }
    }

    /// Checks the answer that a reply gives, as far as the first bytes of the reply decide it.
    private static func expect(_ answer: WebhookSender.Answer, for reply: OddReplies.Reply) {
        let reason: String? =
            if case .refused(let reason, retryAfter: _) = answer { reason } else { nil }
        let isFailure = reason?.hasPrefix("No answer: ") == true
        guard let status = reply.status else {
            #expect(isFailure || reply.mayHaveStatus(in: 200..<300), "\(reply.name): \(answer)")
            return
        }
        switch status {
        case ..<100: #expect(isFailure, "\(reply.name): \(answer)")
        // Informational: the next reply counts.
        case 100..<200:
            let mayBeAccepted = reply.mayHaveStatus(in: 200..<300)
            #expect(reason != nil || mayBeAccepted, "\(reply.name): \(answer)")
        case 200..<300:
            // The other heads with such a status are invalid in part.
            let isWhole = reply.name.hasPrefix("status ")
            #expect(answer == .accepted || !isWhole, "\(reply.name): \(answer)")
        case 410: #expect(answer == .gone, "\(reply.name): \(answer)")
        default: #expect(reason == "HTTP \(status).", "\(reply.name): \(answer)")
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
            #expect(bytes == nil || reply.mayHaveStatus(in: 200..<201), "\(reply.name)")
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

extension OddReplies.Reply {
    /// The status in the first line; `nil` if that line is no valid status line or is damaged.
    fileprivate var status: Int? {
        let line = bytes.prefix(13)
        guard !isDamaged, line.starts(with: "HTTP/1.1 ".utf8), line.last == UInt8(ascii: " ") else {
            return nil
        }
        return Int(String(decoding: line.dropFirst(9).dropLast(), as: UTF8.self))
    }

    /// Returns true if a client may see a status of the range in these bytes.
    fileprivate func mayHaveStatus(in range: Range<Int>) -> Bool {
        guard !isDamaged else { return true }
        guard let status else { return bytes.starts(with: "HTTP/".utf8) }
        let isFollowed = String(decoding: bytes, as: UTF8.self).contains(" 200 OK")
        return range.contains(status) || (100..<200).contains(status) && isFollowed
    }

    private var isDamaged: Bool { name.hasPrefix("damaged") }
}
