import GotchuAPI
import GotchuCore
import PaymentClient
import TestSupport
import Testing

@testable import GotchuDaemon

@Suite("Telling a payment server of a tap", .timeLimit(.minutes(hangLimit)))
struct TapReportTests {
    @Test("A server of the first contract that refuses to be told is asked as before, and for good")
    func firstContract() async throws {
        let server = ScriptedServer()
        server.script(.resolve, .refused(400, "VALIDATION_ERROR"))
        let client = PaymentClient(server: try #require(ServerURL(Bench.server)), http: server)
        let resolver = SessionResolver(client: client)
        let (answers, answer) = AsyncStream.makeStream(of: EID.self)
        // SAFETY: owned by this test, which cancels it at its end.
        let asking = Task { await resolver.run { answer.yield($0) } }
        defer { asking.cancel() }
        var answered = answers.makeAsyncIterator()
        for eid in [EID(literal: "aaaaaaaaaa"), EID(literal: "bbbbbbbbbb")] {
            resolver.want(eid, level: -30, since: .now, isTap: true)
            #expect(await answered.next() == eid)
            #expect(resolver.cached(eid)?.payee == "Corner Cafe")
        }
        #expect(
            server.calls(.resolve).map(\.body) == [
                #"{"eid":"aaaaaaaaaa","proximity":"tap"}"#, #"{"eid":"aaaaaaaaaa"}"#,
                #"{"eid":"bbbbbbbbbb"}"#,
            ]
        )
    }

    @Test("A tap is told with the question, and nearness alone is not")
    func told() async throws {
        let server = ScriptedServer()
        let client = PaymentClient(server: try #require(ServerURL(Bench.server)), http: server)
        let resolver = SessionResolver(client: client)
        let (answers, answer) = AsyncStream.makeStream(of: EID.self)
        // SAFETY: owned by this test, which cancels it at its end.
        let asking = Task { await resolver.run { answer.yield($0) } }
        defer { asking.cancel() }
        var answered = answers.makeAsyncIterator()
        let eid = EID(literal: "aaaaaaaaaa")
        for isTap in [false, false, true] {
            resolver.want(eid, level: -30, since: .now, isTap: isTap)
            if isTap || server.calls(.resolve).isEmpty { _ = await answered.next() }
        }
        #expect(
            server.calls(.resolve).map(\.body) == [
                #"{"eid":"aaaaaaaaaa"}"#, #"{"eid":"aaaaaaaaaa","proximity":"tap"}"#,
            ]
        )
    }
}
