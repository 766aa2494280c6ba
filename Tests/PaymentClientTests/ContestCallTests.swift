import AsyncHTTPClient
import Foundation
import GotchuAPI
import GotchuCore
import TestSupport
import Testing

@testable import PaymentClient

/// Tests of contest documents, which the daemon passes on unchanged.
@Suite("Calls for contests")
struct ContestCallTests {
    private static let list = #"{"contests":[],"contract":1,"limit":25,"total_count":0}"#

    private func reply(_ status: String, _ body: String, _ headers: String = "") -> [UInt8] {
        let length = "Content-Length: \(body.utf8.count)\r\n"
        return Array(
            "HTTP/1.1 \(status)\r\nConnection: close\r\n\(headers)\(length)\r\n\(body)".utf8
        )
    }

    /// Makes one call to a server that answers with these bytes.
    private func answer(
        _ bytes: [UInt8],
        to document: (any ContestDocument.Type)? = ContestList.self,
        knownTag: String? = nil
    ) async throws -> Answer<ContestAnswer> {
        let odd = try OddServer()
        defer { odd.stop() }
        odd.answer(bytes)
        let http = HTTPClient(configuration: PaymentClient.httpConfiguration)
        let url = try #require(ServerURL("http://127.0.0.1:\(odd.port)"))
        var call = ContestCall(.get, "", document: document)
        call.knownTag = knownTag
        let answer = await PaymentClient(server: url, http: http).contest(call)
        try await http.shutdown()
        return answer
    }

    @Test("A document is passed on byte for byte, with its tag and its replay mark")
    func documents() async throws {
        let body = " " + Self.list.replacing("25", with: "25 ") + "\n"
        let headers = "ETag: \"x\"\r\nIdempotent-Replayed: true\r\n"
        guard case .success(let answer) = try await answer(reply("200 OK", body, headers)) else {
            Issue.record("The answer is not a success")
            return
        }
        #expect(answer.bytes == Array(body.utf8) && answer.tag == "\"x\"" && answer.isReplay)
    }

    @Test("A 304 answer has no bytes, and is accepted only if the caller sent a tag")
    func unchanged() async throws {
        let same = reply("304 Not Modified", "", "ETag: \"x\"\r\n")
        guard case .success(let answer) = try await answer(same, knownTag: "\"x\"") else {
            Issue.record("The answer is not a success")
            return
        }
        #expect(answer.bytes == nil && answer.tag == "\"x\"")
        guard case .unknown(let outage) = try await self.answer(same) else {
            Issue.record("A 304 answer is accepted without a tag")
            return
        }
        #expect(outage.code == .unreadable)
    }

    @Test("An answer without the expected document, or with an unexpected one, is unknown")
    func others() async throws {
        let long = Self.list.dropLast() + ",\"x\":\"" + String(repeating: "x", count: 512 * 1024)
        for body in [
            "", "{}", "<html>", Self.list.replacing(#""contract":1"#, with: #""contract":2"#),
            Self.list.replacing(#""limit":25"#, with: #""limit":-1"#), long + "\"}",
        ] {
            guard case .unknown(let outage) = try await answer(reply("200 OK", body)) else {
                Issue.record("\(body.prefix(60)) is accepted as a list")
                continue
            }
            #expect(outage.code == .unreadable)
        }
        guard case .success = try await answer(reply("204 No Content", ""), to: nil) else {
            Issue.record("A call without a document fails")
            return
        }
        guard case .unknown = try await answer(reply("200 OK", "{}"), to: nil) else {
            Issue.record("An unexpected document is accepted")
            return
        }
    }
}
