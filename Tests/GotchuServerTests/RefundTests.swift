import Foundation
import GotchuAPI
import TestSupport
import Testing

@Suite("Refunds in the API")
struct RefundTests {
    private let server: ServerProcess
    private var wire: Wire { server.wire }
    private let payee: String
    private let payer: String
    private let key = "0123456789abcdef"

    init() async throws {
        server = try await ServerProcess()
        payee = try await server.wire.login("payee")
        payer = try await server.wire.login("payer")
    }

    private func refund(
        _ sid: String,
        _ body: String = "{}",
        by token: String? = nil,
        key: String
    ) async throws -> WireReply {
        try await wire.post("/sessions/\(sid)/refund", body, token: token ?? payee, key: key)
    }

    /// Returns the id of a session that the payer has paid.
    private func paidSession(cents: Int) async throws -> String {
        let sid = try await wire.lockedSession(payee, payer, cents: cents)
        let sent = try await wire.send(sid, by: payer, key: "pay-for-\(sid)")
        #expect(sent.status == 200)
        return sid
    }

    private func types(_ user: String) async throws -> [String] {
        let wallet = try await wire.get("/wallet/me", token: user)
        let recent = try #require(wallet.members["recent"] as? [[String: Any]])
        return recent.compactMap { $0["type"] as? String }
    }

    @Test(
        "A refund whose amount is null, and not absent, is refused and refunds nothing",
        arguments: [#"{"amount_cents":null}"#, #"{"amount_cents":[]}"#, #"{"amount_cents":""}"#]
    )
    func amountWithoutNumber(body: String) async throws {
        let sid = try await paidSession(cents: 450)
        let refused = try await refund(sid, body, key: key)
        #expect(refused.code == ErrorCode.validationError.rawValue, "\(refused.text)")
        let session = try await wire.get("/sessions/\(sid)", token: payee)
        #expect(session.status == 200 && session.integer("refunded_cents") == nil)
    }

    @Test(
        "A key with other bytes than ASCII is refused, wherever they are",
        arguments: ["guest-4-of-table-7-é", "日本guest-4-of-table-7", "guest-4-é-of-table-7"]
    )
    func foreignKey(key: String) async throws {
        let sid = try await paidSession(cents: 450)
        let refused = try await refund(sid, #"{"amount_cents":150}"#, key: key)
        #expect(refused.status == 400, "\(refused.text)")
        let session = try await wire.get("/sessions/\(sid)", token: payee)
        #expect(session.status == 200 && session.integer("refunded_cents") == nil)
    }

    @Test("Each partial refund is made once and is in both histories, and the books are verified")
    func parts() async throws {
        let sid = try await paidSession(cents: 450)
        let first = try await refund(sid, #"{"amount_cents":150}"#, key: key + "1")
        #expect(first.status == 200)
        #expect(
            first.names == "amount_cents new_balance_cents ok refunded_cents transfer_id"
        )
        #expect(first.integer("new_balance_cents") == 10_300)
        let again = try await refund(sid, #" { "amount_cents" : 150 } "#, key: key + "1")
        #expect(again.bytes == first.bytes && again.headers["idempotent-replayed"] == "true")
        let other = try await refund(sid, #"{"amount_cents":151}"#, key: key + "1")
        #expect(other.code == ErrorCode.idempotencyKeyReused.rawValue)
        let large = try await refund(sid, #"{"amount_cents":301}"#, key: key + "2")
        #expect(large.status == 409 && large.code == ErrorCode.refundTooLarge.rawValue)
        #expect(
            try await refund(sid, #"{"amount_cents":301}"#, key: key + "2").bytes == large.bytes
        )
        let rest = try await refund(sid, key: key + "3")
        #expect(rest.integer("amount_cents") == 300 && rest.integer("refunded_cents") == 450)
        let done = try await refund(sid, key: key + "4")
        #expect(done.code == ErrorCode.sessionRefunded.rawValue && done.status == 409)
        #expect(try await wire.balance(payee) == 10_000)
        #expect(try await wire.balance(payer) == 10_000)
        #expect(try await types(payee).prefix(3) == ["SEND_REFUND", "SEND_REFUND", "RECEIVE_P2P"])
        let received = ["RECEIVE_REFUND", "RECEIVE_REFUND", "SEND_P2P"]
        #expect(try await Array(types(payer).prefix(3)) == received)
        let session = try await wire.get("/sessions/\(sid)", token: payer)
        #expect(session.integer("refunded_cents") == 450)
        let verified = try await ServerProcess.run(
            "verify",
            "--database",
            "sqlite:\(server.path)"
        )
        #expect(verified.code == 0, "\(verified.text)")
        #expect(
            verified.text.contains("ok\t1\tevery session can be read, and its transfers match")
        )
    }

    @Test("Exactly one of fifty simultaneous full refunds with different keys succeeds")
    func race() async throws {
        let sid = try await paidSession(cents: 450)
        let codes = try await withThrowingTaskGroup(of: String?.self) { group in
            for number in 0..<50 {
                group.addTask { try await refund(sid, key: "0123456789-race-\(number)").code }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(codes.count { $0 == nil } == 1)
        #expect(codes.count { $0 == ErrorCode.sessionRefunded.rawValue } == 49)
        #expect(try await wire.balance(payee) == 10_000)
    }

    @Test("A refund that cannot be made is refused with the error code of the reason")
    func refusals() async throws {
        let open = try await wire.create(payee, cents: 5).string("sid")
        let unpaid = try await refund(open, key: key + "1")
        #expect(unpaid.status == 409 && unpaid.code == ErrorCode.sessionNotPaid.rawValue)
        let unknown = try await refund("no-such", key: key + "2")
        #expect(unknown.code == ErrorCode.notFound.rawValue)
        let stranger = try await refund(open, by: payer, key: key + "3")
        #expect(stranger.code == ErrorCode.forbidden.rawValue)
        let keyless = try await wire.post("/sessions/\(open)/refund", token: payee)
        #expect(keyless.code == ErrorCode.idempotencyKeyRequired.rawValue)
        let bodies = [
            #"{"amount_cents":0}"#, #"{"amount_cents":1.5}"#, #"{"amount_cents":-1}"#,
            #"{"amount":1}"#, #"{"amount_cents":100000001}"#,
        ]
        for body in bodies {
            let reply = try await refund(open, body, key: key + "4")
            #expect(reply.code == ErrorCode.validationError.rawValue, "\(body)")
        }
        let sid = try await paidSession(cents: 450)
        let drain = try await wire.lockedSession(payer, payee, cents: 10_100)
        #expect(try await wire.send(drain, by: payee, key: key + "5").status == 200)
        let broke = try await refund(sid, key: key + "6")
        #expect(broke.status == 402)
        #expect(broke.integer("required_cents") == 450)
        #expect(broke.integer("available_cents") == 350)
    }
}
