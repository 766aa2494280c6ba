import Foundation
import GotchuAPI
import TestSupport
import Testing

@Suite("EID rotation in the API")
struct RotationTests {
    private let server: ServerProcess
    private var wire: Wire { server.wire }
    private let payee: String
    private let payer: String

    init() async throws {
        server = try await ServerProcess()
        payee = try await server.wire.login("payee")
        payer = try await server.wire.login("payer")
    }

    private func rotate(
        _ sid: String,
        replacing eid: String?,
        by token: String
    ) async throws -> WireReply {
        let body = eid.map { #"{"replaces":"\#($0)"}"# } ?? "{}"
        return try await wire.post("/sessions/\(sid)/eids", body, token: token)
    }

    private func resolve(_ eid: String) async throws -> WireReply {
        try await wire.post("/sessions/resolve", #"{"eid":"\#(eid)"}"#)
    }

    @Test("After a rotation both EIDs lead to the session, and a repeat gets the same answer")
    func rotation() async throws {
        let created = try await wire.create(payee, cents: 5)
        let sid = created.string("sid")
        let old = created.string("eid")
        let rotated = try await rotate(sid, replacing: old, by: payee)
        #expect(rotated.status == 200 && rotated.names == "eid exp_at replaced_eid replaced_until")
        #expect(rotated.string("replaced_eid") == old)
        #expect(rotated.string("exp_at") == created.string("exp_at"))
        #expect(rotated.string("replaced_until") < rotated.string("exp_at"))
        let eid = rotated.string("eid")
        #expect(eid != old)
        #expect(try await rotate(sid, replacing: old, by: payee).bytes == rotated.bytes)
        for name in [old, eid] {
            let resolved = try await resolve(name)
            #expect(resolved.status == 200 && resolved.string("sid") == sid)
        }
        _ = try await wire.lock(sid, by: payer)
        #expect(try await wire.send(sid, by: payer, key: "0123456789abcdef").status == 200)
        for name in [old, eid] {
            #expect(try await resolve(name).code == ErrorCode.sessionPaid.rawValue)
        }
        let late = try await rotate(sid, replacing: eid, by: payee)
        #expect(late.code == ErrorCode.sessionPaid.rawValue)
    }

    @Test("A rotation by another user, of another EID, or beyond the limit is refused")
    func refusals() async throws {
        let created = try await wire.create(payee, cents: 5)
        let sid = created.string("sid")
        let stranger = try await rotate(sid, replacing: nil, by: payer)
        #expect(stranger.code == ErrorCode.forbidden.rawValue)
        for body in [#"{"replaces":"0000000000"}"#, #"{"replaces":"x"}"#, #"{"eid":"0"}"#] {
            let reply = try await wire.post("/sessions/\(sid)/eids", body, token: payee)
            #expect(reply.code == ErrorCode.validationError.rawValue, "\(body)")
        }
        let unknown = try await rotate("no-such", replacing: nil, by: payee)
        #expect(unknown.code == ErrorCode.notFound.rawValue)
        var last = try await rotate(sid, replacing: nil, by: payee)
        for _ in 0..<100 where last.status == 200 {
            last = try await rotate(sid, replacing: nil, by: payee)
        }
        #expect(last.code == ErrorCode.tooManyRotations.rawValue && last.status == 409)
        #expect(last.members["retryable"] as? Bool == false)
    }
}
