import Foundation
import TestSupport
import Testing

/// Tests of phones that use the first version of the API. They send and read only its members, with
/// their types. Later members must not affect these phones.
@Suite("Old clients")
struct OldClientTests {
    private struct Login: Decodable {
        let token: String
        let user_id: String
    }
    private struct Wallet: Decodable {
        struct Entry: Decodable {
            let type: String
            let amount_cents: Int
        }
        let wallet_id: String
        let available_cents: Int
        let recent: [Entry]
    }
    private struct Created: Decodable {
        let sid: String
        let eid: String
        let exp_at: String
    }
    private struct Resolved: Decodable {
        struct Payee: Decodable {
            let name: String
        }
        let sid: String
        let amount_cents: Int
        let payee_display: Payee
    }
    private struct Done: Decodable {
        let ok: Bool
        let new_balance_cents: Int?
    }
    private struct Refused: Decodable {
        let error: String
        let code: String
    }

    private func read<Reply: Decodable>(
        _ type: Reply.Type,
        _ reply: WireReply,
        _ status: Int = 200,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> Reply {
        #expect(reply.status == status, "\(reply.text)", sourceLocation: sourceLocation)
        return try JSONDecoder().decode(type, from: reply.bytes)
    }

    @Test(
        "Alice pays Bob with phones that know only the first contract",
        arguments: DatabaseKind.all
    )
    func story(kind: DatabaseKind) async throws {
        let wire = try await kind.wire()
        let bob = try read(
            Login.self,
            try await wire.post("/auth/dev-login", #"{"email":"bob@example.com"}"#)
        )
        let alice = try read(
            Login.self,
            try await wire.post("/auth/dev-login", #"{"email":"alice@example.com"}"#)
        )
        let created = try read(
            Created.self,
            try await wire.post("/sessions/create", #"{"amount_cents":5000}"#, token: bob.token)
        )
        #expect(created.eid.wholeMatch(of: /[0-9a-f]{10}/) != nil)
        let formatter = ISO8601DateFormatter()
        formatter.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
        let end = try #require(formatter.date(from: created.exp_at))
        #expect((240...300).contains(end.timeIntervalSinceNow))

        let resolved = try read(
            Resolved.self,
            try await wire.post("/sessions/resolve", #"{"eid":"\#(created.eid)"}"#)
        )
        #expect(resolved.sid == created.sid && resolved.amount_cents == 5000)
        #expect(resolved.payee_display.name == "bob")

        let body = #"{"sid":"\#(created.sid)"}"#
        let locked = try await wire.post("/sessions/lock", body, token: alice.token)
        #expect(try read(Done.self, locked).ok)
        // Old phones make their keys in this way.
        let key = UUID().uuidString
        let sent = try await wire.post("/wallet/send", body, token: alice.token, key: key)
        #expect(try read(Done.self, sent).new_balance_cents == 5000)
        let again = try await wire.post("/wallet/send", body, token: alice.token, key: key)
        #expect(again.bytes == sent.bytes)

        for (who, balance, type) in [(alice, 5_000, "SEND_P2P"), (bob, 15_000, "RECEIVE_P2P")] {
            let reply = try await wire.get("/wallet/me", token: who.token)
            let wallet = try read(Wallet.self, reply)
            #expect(wallet.available_cents == balance && wallet.recent.first?.type == type)
            #expect(wallet.recent.first?.amount_cents == 5_000)
        }
    }

    @Test("Refusals have the members and codes that old clients read", arguments: DatabaseKind.all)
    func refusals(kind: DatabaseKind) async throws {
        let wire = try await kind.wire()
        let bob = try await wire.login("bob")
        let alice = try await wire.login("alice")
        let carol = try await wire.login("carol")
        let sid = try await wire.create(bob, cents: 5).string("sid")
        _ = try await wire.lock(sid, by: alice)
        let busy = try read(Refused.self, try await wire.lock(sid, by: carol), 409)
        #expect(busy.code == "SESSION_BUSY" && !busy.error.isEmpty)
        let unknown = try await wire.post("/sessions/resolve", #"{"eid":"0000000000"}"#)
        #expect(try read(Refused.self, unknown, 404).code == "NOT_FOUND")
        #expect(try await wire.get("/wallet/me").status == 401)
    }
}
