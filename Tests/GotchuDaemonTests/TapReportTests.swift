import GotchuAPI
import GotchuCore
import PaymentClient
import TestSupport
import Testing

@testable import GotchuDaemon

@Suite("Reports of taps to a payment server")
struct TapReportTests {
    @Test("A server that refuses one tap report as invalid gets no more tap reports")
    func firstContract() async throws {
        let server = ScriptedServer()
        server.script(.resolve, .refused(400, "VALIDATION_ERROR"))
        let client = PaymentClient(server: try #require(ServerURL(Bench.server)), http: server)
        let resolver = SessionResolver(client: client)
        let (answers, answer) = AsyncStream.makeStream(of: EID.self)
        resolver.listen { answer.yield($0) }
        // SAFETY: owned by this test, which cancels it at its end.
        let asking = Task { await resolver.run() }
        defer { asking.cancel() }
        var answered = answers.makeAsyncIterator()
        for eid in [EID(literal: "aaaaaaaaaa"), EID(literal: "bbbbbbbbbb")] {
            resolver.enqueue(eid, level: -30, since: .now, isTap: true)
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

    @Test("A payment shares a background resolve call for its EID that is still running")
    func joined() async throws {
        let server = ScriptedServer()
        let client = PaymentClient(server: try #require(ServerURL(Bench.server)), http: server)
        let resolver = SessionResolver(client: client)
        let gate = server.stop(at: .resolve)
        // SAFETY: owned by this test, which cancels it at its end.
        let asking = Task { await resolver.run() }
        defer { asking.cancel() }
        let eid = EID(literal: ScriptedServer.eid)
        resolver.enqueue(eid, level: -30, since: .now, isTap: false)
        await gate.reached()
        _ = await resolver.resolve(EID(literal: "bbbbbbbbbb"))
        #expect(server.calls(.resolve).count == 2, "A call for another EID does not wait")
        // SAFETY: awaited below; it runs at once until it waits.
        let payment = Task.immediate { await resolver.resolve(eid) }
        gate.open()
        guard case .success = await payment.value else {
            Issue.record("The payment does not get the answer of the background call")
            return
        }
        #expect(server.calls(.resolve).count == 2)
    }

    @Test("A resolve call reports a tap; an EID that is only near is sent without a report")
    func told() async throws {
        let server = ScriptedServer()
        let client = PaymentClient(server: try #require(ServerURL(Bench.server)), http: server)
        let resolver = SessionResolver(client: client)
        let (answers, answer) = AsyncStream.makeStream(of: EID.self)
        resolver.listen { answer.yield($0) }
        // SAFETY: owned by this test, which cancels it at its end.
        let asking = Task { await resolver.run() }
        defer { asking.cancel() }
        var answered = answers.makeAsyncIterator()
        let eid = EID(literal: "aaaaaaaaaa")
        for (isTap, isAsked) in [(false, true), (false, false), (true, true)] {
            resolver.enqueue(eid, level: -30, since: .now, isTap: isTap)
            if isAsked { _ = await answered.next() }
        }
        #expect(
            server.calls(.resolve).map(\.body) == [
                #"{"eid":"aaaaaaaaaa"}"#, #"{"eid":"aaaaaaaaaa","proximity":"tap"}"#,
            ]
        )
    }
}
