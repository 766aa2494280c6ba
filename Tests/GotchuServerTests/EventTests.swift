import Foundation
import TestSupport
import Testing

@Suite("A session's events")
struct EventTests {
    private let server: ServerProcess
    private var wire: Wire { server.wire }
    private let payee: String
    private let payer: String

    init() async throws {
        server = try await ServerProcess()
        payee = try await server.wire.login("payee")
        payer = try await server.wire.login("payer")
    }

    @Test("Events begin with the current state, contain each later state, and end with the payment")
    func payment() async throws {
        let sid = try await wire.create(payee, cents: 5).string("sid")
        var events = try await EventStream(wire, sid, token: payee)
        #expect(events.status == 200)
        #expect(try await events.next() == .init(id: "1", status: "ADVERTISING"))
        _ = try await wire.lock(sid, by: payer)
        #expect(try await events.next() == .init(id: "2", status: "LOCKED"))
        _ = try await wire.send(sid, by: payer, key: "0123456789abcdef")
        #expect(try await events.next() == .init(id: "3", status: "PAID"))
        #expect(try await events.next() == nil)
    }

    @Test("Events continue after the last event seen; a client that has seen all events gets 204")
    func reconnect() async throws {
        let sid = try await wire.create(payee, cents: 5).string("sid")
        var events = try await EventStream(wire, sid, token: payee, lastEventID: "1")
        _ = try await wire.post("/sessions/\(sid)/cancel", token: payee)
        #expect(try await events.next() == .init(id: "2", status: "CANCEL"))
        #expect(try await events.next() == nil)
        var late = try await EventStream(wire, sid, token: payee, lastEventID: "1")
        #expect(try await late.next() == .init(id: "2", status: "CANCEL"))
        #expect(try await late.next() == nil)
        let done = try await EventStream(wire, sid, token: payee, lastEventID: "2")
        #expect(done.status == 204)
    }

    @Test("The events of an idle session end with its expiry")
    func expiry() async throws {
        let sid = try await wire.create(payee, cents: 5, more: #","ttl_seconds":1"#).string("sid")
        var events = try await EventStream(wire, sid, token: payee)
        #expect(try await events.next() == .init(id: "1", status: "ADVERTISING"))
        #expect(try await events.next() == .init(id: "2", status: "TIMEOUT"))
        #expect(try await events.next() == nil)
    }

    @Test("The events end for a payer who releases the lock")
    func noLongerVisible() async throws {
        let sid = try await wire.lockedSession(payee, payer, cents: 5)
        var events = try await EventStream(wire, sid, token: payer)
        #expect(try await events.next()?.status == "LOCKED")
        #expect(try await wire.post("/sessions/\(sid)/unlock", token: payer).status == 200)
        #expect(try await events.next() == nil)
    }

    @Test("A payer with 64 streams of a session is refused another, and its payee is not")
    func boundedByUser() async throws {
        let sid = try await wire.lockedSession(payee, payer, cents: 5)
        var open: [EventStream] = []
        for _ in 0..<64 { open.append(try await EventStream(wire, sid, token: payer)) }
        #expect(open.allSatisfy { $0.status == 200 })
        let refused = try await wire.get("/sessions/\(sid)/events", token: payer)
        #expect(refused.code == "RATE_LIMITED" && refused.headers["retry-after"] == "5")
        #expect(
            refused.string("detail")
                == "This device or login follows as many sessions and wallets as it may: 64."
        )
        #expect(try await EventStream(wire, sid, token: payee).status == 200)
    }

    @Test("The connection of a stream can be reused, except after an oversized request body")
    func wholeRequest() async throws {
        let sid = try await wire.create(payee, cents: 5).string("sid")
        var events = try await EventStream(wire, sid, token: payee, body: "{}")
        #expect(!events.isLast)
        #expect(try await events.next()?.id == "1")
        _ = try await wire.post("/sessions/\(sid)/cancel", token: payee)
        #expect(try await events.next()?.id == "2")
        #expect(try await events.next() == nil)
        let large = String(repeating: " ", count: 70_000)
        #expect(try await EventStream(wire, sid, token: payee, body: large).isLast)
    }

    @Test("A stream is released when its reader disconnects")
    func gone() async throws {
        let sid = try await wire.create(payee, cents: 5).string("sid")
        var events: EventStream? = try await EventStream(wire, sid, token: payee)
        #expect(try await events?.next()?.id == "1")
        #expect(try await wire.metric("gotchu_server_event_streams") == 1)
        events = nil
        try await eventually("the stream is released") {
            try await wire.metric("gotchu_server_event_streams") == 0 ? true : nil
        }
    }

    @Test("A stream ends when its server stops, and the stop takes at most ten seconds")
    func stop() async throws {
        let sid = try await wire.create(payee, cents: 5).string("sid")
        var events = try await EventStream(wire, sid, token: payee)
        #expect(try await events.next()?.id == "1")
        // The second event proves that the stream is running; the first may be sent before that.
        _ = try await wire.post("/sessions/\(sid)/eids", "{}", token: payee)
        #expect(try await events.next()?.id == "2")
        #expect(try await server.stop() == 0)
        #expect(try await events.next() == nil)
    }
}
