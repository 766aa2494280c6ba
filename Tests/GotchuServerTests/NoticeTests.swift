import Foundation
import PostgresTestSupport
import TestSupport
import Testing

@Suite("Taps of a payer's device")
struct NoticeTests {
    private static func resolve(
        _ eid: String,
        _ wire: Wire,
        token: String?,
        more: String = #","proximity":"tap""#
    ) async throws -> WireReply {
        try await wire.post("/sessions/resolve", #"{"eid":"\#(eid)"\#(more)}"#, token: token)
    }

    @Test(
        "A payer's tap sends the session's state to the payee again, without an id or a new version"
    )
    func tap() async throws {
        let server = try await ServerProcess()
        let wire = server.wire
        let (payee, payer) = (try await wire.login("payee"), try await wire.login("payer"))
        let session = try await wire.create(payee, cents: 5)
        let (sid, eid) = (session.string("sid"), session.string("eid"))
        var events = try await EventStream(wire, sid, token: payee)
        #expect(try await events.next() == .init(id: "1", status: "ADVERTISING"))
        // A resolve without a token, by the payee or without `proximity` sends no event.
        #expect(try await Self.resolve(eid, wire, token: nil).status == 200)
        #expect(try await Self.resolve(eid, wire, token: payee).status == 200)
        #expect(try await Self.resolve(eid, wire, token: payer, more: "").status == 200)
        #expect(try await Self.resolve(eid, wire, token: payer).status == 200)
        let event = try #require(try await events.next())
        #expect(event.id.isEmpty && event.status == "ADVERTISING")
        let noticed = try Date(#require(event.noticedAt), strategy: .iso8601WithFractions)
        #expect(abs(noticed.timeIntervalSinceNow) < 30)
        let shown = try await wire.get("/sessions/\(sid)", token: payee)
        #expect(shown.integer("version") == 1 && shown.members["noticed_at"] == nil)
        // A second tap within two seconds sends no event; the next event is the lock.
        #expect(try await Self.resolve(eid, wire, token: payer).status == 200)
        _ = try await wire.lock(sid, by: payer)
        #expect(try await events.next() == .init(id: "2", status: "LOCKED"))
    }

    @Test("A proximity other than tap is refused")
    func misspelt() async throws {
        let server = try await ServerProcess()
        let payee = try await server.wire.login("payee")
        let eid = try await server.wire.create(payee, cents: 5).string("eid")
        for other in [#","proximity":"near""#, #","proximity":1"#] {
            let reply = try await Self.resolve(eid, server.wire, token: payee, more: other)
            #expect(reply.status == 400 && reply.code == "VALIDATION_ERROR")
        }
    }

    @Test("A tap at one server sends an event to a payee who follows the session at another server")
    func twoServers() async throws {
        let cluster = try PostgresCluster.shared()
        let url = cluster.url(try cluster.makeDatabase())
        let first = try await ServerProcess(database: url)
        let second = try await ServerProcess(database: url)
        let payee = try await first.wire.login("payee")
        let payer = try await first.wire.login("payer")
        let session = try await first.wire.create(payee, cents: 5)
        var events = try await EventStream(second.wire, session.string("sid"), token: payee)
        #expect(try await events.next()?.id == "1")
        let tap = try await Self.resolve(session.string("eid"), first.wire, token: payer)
        #expect(tap.status == 200)
        let event = try #require(try await events.next())
        #expect(event.id.isEmpty && event.noticedAt != nil)
    }
}

extension ParseStrategy where Self == Date.ISO8601FormatStyle {
    fileprivate static var iso8601WithFractions: Date.ISO8601FormatStyle {
        Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    }
}
