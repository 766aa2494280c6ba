import AsyncHTTPClient
import GotchuAPI
import GotchuCore
import TestSupport
import Testing

@testable import PaymentClient

/// A test with replies of a server that is not a payment server.
@Suite("Odd replies to a daemon", .timeLimit(.minutes(hangLimit)))
struct OddReplyTests {
    @Test("No odd reply crashes the client or decides a payment; good replies are accepted later")
    func replies() async throws {
        let odd = try OddServer()
        defer { odd.stop() }
        let http = HTTPClient(configuration: PaymentClient.httpConfiguration)
        let url = try #require(ServerURL("http://127.0.0.1:\(odd.port)"))
        let client = PaymentClient(server: url, http: http)
        let session = try #require(SessionID(rawValue: "0123456789abcdef"))
        let key = try #require(IdempotencyKey(rawValue: "0123456789abcdef"))
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
        let name = String(repeating: "x", count: 10_000)
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
}
