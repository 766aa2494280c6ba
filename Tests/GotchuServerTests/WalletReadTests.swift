import Foundation
import GotchuAPI
import TestSupport
import Testing

/// Tests of the API's contract for wallet reads. Clients rely on every field.
@Suite("Wallet reads")
struct WalletReadTests {
    private let server: ServerProcess
    private var wire: Wire { server.wire }
    private let payee: String
    private let payer: String
    private let path = "/api/wallet/transactions"

    init() async throws {
        server = try await ServerProcess()
        payee = try await server.wire.login("payee")
        payer = try await server.wire.login("payer")
    }

    private func pay(_ cents: Int) async throws -> String {
        let sid = try await wire.lockedSession(payee, payer, cents: cents)
        _ = try await wire.send(sid, by: payer, key: "pay-for-\(sid)")
        return sid
    }

    private func list(_ query: String = "", of user: String? = nil) async throws -> WireReply {
        try await wire.get(path + query, token: user ?? payee)
    }

    /// Returns the amounts of the listed entries, in their order.
    private func amounts(_ reply: WireReply) throws -> [Int] {
        let list = try #require(reply.members["transactions"] as? [[String: Any]], "\(reply.text)")
        return list.compactMap { $0["amount_cents"] as? Int }
    }

    /// Returns a reply's text with placeholders for the ids, times and cursors.
    private func golden(_ reply: WireReply) -> String {
        reply.text
            .replacing(/[0-9a-f]{8}-[0-9a-f-]{27}/, with: "ID")
            .replacing(/\d{4}-\d\d-\d\dT[0-9:.]+Z/, with: "TIME")
            .replacing(/"next_cursor":"[A-Za-z0-9_=-]+"/, with: #""next_cursor":"CURSOR""#)
    }

    @Test("The replies to wallet reads have exactly the fields of the contract")
    func projection() async throws {
        let body = #"{"amount_cents":450,"memo":"Flat white","payee_reference":"order 7"}"#
        let sid = try await wire.post("/sessions/create", body, token: payee).string("sid")
        _ = try await wire.lock(sid, by: payer)
        _ = try await wire.send(sid, by: payer, key: "0123456789abcdef")
        let refund = "/sessions/\(sid)/refund"
        _ = try await wire.post(
            refund,
            #"{"amount_cents":50}"#,
            token: payee,
            key: "0123456789abcdef"
        )
        #expect(
            golden(try await wire.get("/api/wallet/balance", token: payee))
                == #"{"balance_cents":10400,"currency":"usd","last_updated":"TIME","#
                + #""user_id":"ID","wallet_id":"ID"}"#
        )
        let common = #""session_id":"ID","status":"confirmed","transaction_id":"ID","#
        let owner = #""user_id":"ID","wallet_id":"ID"}"#
        let time = #""created_at":"TIME","currency":"usd","#
        #expect(
            golden(try await list())
                == #"{"limit":25,"page":1,"total_count":3,"total_pages":1,"transactions":["#
                + #"{"amount_cents":50,\#(time)"direction":"DEBIT","memo":"Flat white","#
                + common + #""type":"refund","# + owner + ","
                + #"{"amount_cents":450,\#(time)"direction":"CREDIT","memo":"Flat white","#
                + common + #""type":"credit","# + owner + ","
                + #"{"amount_cents":10000,\#(time)"direction":"CREDIT","#
                + #""status":"confirmed","transaction_id":"ID","type":"deposit","# + owner + "]}"
        )
        let other = try await list("?limit=2", of: payer)
        #expect(golden(other).hasPrefix(#"{"limit":2,"next_cursor":"CURSOR","page":1,"#))
        #expect(golden(other).contains(#""direction":"CREDIT","memo":"Flat white""#))
        #expect(golden(other).contains(#""type":"debit""#))
    }

    @Test("Page numbers select entries, and cursors list each entry once while new ones arrive")
    func paging() async throws {
        for cents in 1...7 { _ = try await pay(cents) }
        #expect(try amounts(await list("?page=1&limit=3")) == [7, 6, 5])
        #expect(try amounts(await list("?page=3&limit=3")) == [1, 10_000])
        let beyond = try await list("?page=4&limit=3")
        #expect(try amounts(beyond) == [])
        #expect(beyond.integer("total_count") == 8 && beyond.integer("total_pages") == 3)
        #expect(beyond.members["next_cursor"] == nil)

        var seen: [Int] = []
        var reply = try await list("?limit=3")
        seen += try amounts(reply)
        while let cursor = reply.members["next_cursor"] as? String {
            _ = try await pay(20)
            reply = try await list("?limit=3&cursor=\(cursor)")
            #expect(reply.members["page"] == nil)
            seen += try amounts(reply)
        }
        #expect(seen == [7, 6, 5, 4, 3, 2, 1, 10_000])
        #expect(reply.integer("total_count") == 10)
    }

    @Test(
        "A parameter that is malformed, out of range, repeated or unknown is refused",
        arguments: [
            "page=0", "page=-1", "page=1.0", "page=1e2", "page=01", "page=+1", "page=%201", "page=",
            "page=x", "page=1000000001", "page=99999999999999999999", "limit=0", "limit=101",
            "limit=abc", "limit=", "page=1&page=1", "offset=5", "sort=asc", "limit=5&Limit=5",
            "cursor=", "cursor=nonsense", "cursor=AAAAAAAAAAEAAAAAAAAAAA==",
        ]
    )
    func strict(query: String) async throws {
        let reply = try await list("?" + query)
        #expect(reply.status == 400, "\(reply.text)")
        #expect(reply.code == ErrorCode.validationError.rawValue)
    }

    @Test("A cursor is refused for another wallet, with a page number, or with a changed character")
    func cursors() async throws {
        for cents in 1...3 { _ = try await pay(cents) }
        let cursor = try await list("?limit=1").string("next_cursor")
        #expect(try await list("?limit=1&cursor=\(cursor)").status == 200)
        #expect(try await list("?limit=1&cursor=\(cursor)", of: payer).status == 400)
        #expect(try await list("?page=1&cursor=\(cursor)").status == 400)
        for index in cursor.indices where cursor[index] != "=" {
            var changed = cursor
            changed.replaceSubrange(index...index, with: cursor[index] == "B" ? "C" : "B")
            #expect(try await list("?cursor=\(changed)").status == 400, "\(changed)")
        }
    }

    @Test("A wallet read that names a user or a wallet, or has no token, is refused")
    func ownOnly() async throws {
        for query in ["user_id=x", "userId=x", "user=x", "wallet_id=x"] {
            for path in [path, "/api/wallet/balance"] {
                let reply = try await wire.get("\(path)?\(query)", token: payee)
                #expect(reply.status == 403, "\(path)?\(query)")
                #expect(reply.code == ErrorCode.forbidden.rawValue)
            }
        }
        #expect(try await wire.get("/api/wallet/balance?limit=1", token: payee).status == 400)
        #expect(try await wire.get(path).status == 401)
        #expect(try await wire.get("/api/wallet/balance").status == 401)
    }
}
