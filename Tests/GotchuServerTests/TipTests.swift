import Foundation
import GotchuAPI
import TestSupport
import Testing

@Suite("Tips in the API")
struct TipTests {
    private let allow = #","allows_tip":true"#
    private let key = "0123456789abcdef-"

    /// Returns a client of a new server, with the tokens of a payee and a payer.
    private func shop(
        _ kind: DatabaseKind
    ) async throws -> (wire: Wire, payee: String, payer: String) {
        let wire = try await kind.wire()
        return (wire, try await wire.login("payee"), try await wire.login("payer"))
    }

    private func tip(_ cents: Int) -> String { #","tip_cents":\#(cents)"# }

    @Test(
        "A tip has its own member in replies and events, and is refunded only after the amount",
        arguments: DatabaseKind.all
    )
    func story(kind: DatabaseKind) async throws {
        let (wire, payee, payer) = try await shop(kind)
        let created = try await wire.create(payee, cents: 500, more: allow)
        let sid = created.string("sid")
        let eid = #"{"eid":"\#(created.string("eid"))"}"#
        let resolved = try await wire.post("/sessions/resolve", eid)
        #expect(resolved.members["allows_tip"] as? Bool == true)
        #expect(resolved.integer("amount_cents") == 500)
        var events = try await EventStream(wire, sid, token: payee)
        #expect(try await events.next() == .init(id: "1", status: "ADVERTISING", tip: 0))
        _ = try await wire.lock(sid, by: payer)
        #expect(try await events.next() == .init(id: "2", status: "LOCKED", tip: 0))

        let more = #","expected_amount_cents":500"# + tip(100)
        let sent = try await wire.send(sid, by: payer, key: key + "1", more: more)
        #expect(sent.status == 200, "\(sent.text)")
        #expect(sent.integer("new_balance_cents") == 9_400 && sent.integer("tip_cents") == 100)
        let again = try await wire.send(sid, by: payer, key: key + "1", more: more)
        #expect(again.bytes == sent.bytes && again.headers["idempotent-replayed"] == "true")
        let outcome = try await wire.get("/wallet/sends/\(key)1", token: payer)
        #expect(outcome.integer("tip_cents") == 100)
        #expect(try await events.next() == .init(id: "3", status: "PAID", tip: 100))
        let paid = try await wire.get("/sessions/\(sid)", token: payee)
        #expect(paid.integer("amount_cents") == 500 && paid.integer("tip_cents") == 100)
        #expect(paid.members["allows_tip"] as? Bool == true)

        func refund(_ body: String, _ number: Int) async throws -> [Int64?] {
            let path = "/sessions/\(sid)/refund"
            let back = try await wire.post(path, body, token: payee, key: "\(key)\(number)")
            return ["amount_cents", "tip_cents", "refunded_cents"].map { back.integer($0) }
        }
        #expect(try await refund(#"{"amount_cents":540}"#, 2) == [540, 40, 540])
        #expect(try await refund("{}", 3) == [60, 60, 600])
        #expect(try await wire.balance(payer) == 10_000)

        let wallet = try await wire.get("/wallet/me", token: payer)
        let recent = try #require(wallet.members["recent"] as? [[String: Any]])
        #expect(recent.map { $0["amount_cents"] as? Int } == [60, 540, 600, 10_000])
        #expect(recent.map { $0["tip_cents"] as? Int } == [60, 40, 100, nil])
        let list = try await wire.get("/api/wallet/transactions", token: payee)
        let entries = try #require(list.members["transactions"] as? [[String: Any]])
        #expect(entries.map { $0["amount_cents"] as? Int } == [60, 540, 600, 10_000])
        #expect(entries.map { $0["tip_cents"] as? Int } == [60, 40, 100, nil])
    }

    @Test("A tip that is not allowed or not valid is refused", arguments: DatabaseKind.all)
    func refusals(kind: DatabaseKind) async throws {
        let (wire, payee, payer) = try await shop(kind)
        let plain = try await wire.lockedSession(payee, payer, cents: 500)
        let refused = try await wire.send(plain, by: payer, key: key + "1", more: tip(1))
        #expect(refused.status == 409 && refused.code == "TIP_NOT_ALLOWED", "\(refused.text)")
        let again = try await wire.send(plain, by: payer, key: key + "1", more: tip(1))
        #expect(again.bytes == refused.bytes)
        for wrong in ["-1", "1.5", "1e2", "100000001", "9223372036854775808", #""1""#, "true"] {
            let more = #","tip_cents":\#(wrong)"#
            let reply = try await wire.send(plain, by: payer, key: key + "2", more: more)
            #expect(reply.status == 400 && reply.code == "VALIDATION_ERROR", "\(wrong)")
            #expect(reply.string("detail").hasPrefix("tip_cents must be"), "\(reply.text)")
        }
        for wrong in ["1", #""true""#, "{}"] {
            let more = #","allows_tip":\#(wrong)"#
            let reply = try await wire.create(payee, cents: 500, more: more)
            #expect(reply.string("detail") == "allows_tip must be true or false.")
        }
        // A tip of zero is the same as no tip: both calls with one key get the same answer.
        let nothing = try await wire.send(plain, by: payer, key: key + "3", more: tip(0))
        #expect(nothing.status == 200 && nothing.integer("tip_cents") == nil)
        let unsaid = try await wire.send(plain, by: payer, key: key + "3")
        #expect(unsaid.bytes == nothing.bytes)
    }

    @Test("A tip counts towards the required balance, and a key with another tip is refused")
    func keys() async throws {
        let (wire, payee, payer) = try await shop(.sqlite)
        let sid = try await wire.create(payee, cents: 9_000, more: allow).string("sid")
        _ = try await wire.lock(sid, by: payer)
        let poor = try await wire.send(sid, by: payer, key: key + "1", more: tip(1_001))
        #expect(poor.status == 402 && poor.integer("required_cents") == 10_001)
        let large = try await wire.send(sid, by: payer, key: key + "2", more: tip(100_000_000))
        #expect(large.code == "TIP_NOT_ALLOWED")
        let sent = try await wire.send(sid, by: payer, key: key + "3", more: tip(1_000))
        #expect(sent.integer("new_balance_cents") == 0)
        for more in ["", tip(0), tip(999)] {
            let other = try await wire.send(sid, by: payer, key: key + "3", more: more)
            #expect(other.status == 422 && other.code == "IDEMPOTENCY_KEY_REUSED", "\(more)")
        }
    }
}
