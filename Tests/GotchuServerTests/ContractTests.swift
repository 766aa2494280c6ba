import Foundation
import TestSupport
import Testing

/// Tests of the first version of the API, which old phones use.
@Suite("The first contract")
struct ContractTests {
    @Test(
        "The reply to each step of a payment has exactly the members of the first contract",
        arguments: DatabaseKind.all
    )
    func transcript(kind: DatabaseKind) async throws {
        let wire = try await kind.wire()
        let login = try await wire.post("/auth/dev-login", #"{"email":"Corner.Cafe@Shop.example"}"#)
        #expect(login.status == 200 && login.names == "token user_id")
        let again = try await wire.post("/auth/dev-login", #"{"email":"corner.cafe@shop.EXAMPLE"}"#)
        #expect(again.string("user_id") == login.string("user_id"))
        let payee = login.string("token")
        let payer = try await wire.login("payer")

        let created = try await wire.create(payee, cents: 450, more: #","memo":"Flat white""#)
        #expect(created.status == 200 && created.names == "eid exp_at payee_display sid")
        #expect(created.members["payee_display"] as? [String: String] == ["name": "Corner.Cafe"])
        #expect(created.string("eid").wholeMatch(of: /[0-9a-f]{10}/) != nil)
        let sid = created.string("sid")

        let eid = created.string("eid").uppercased()
        let resolved = try await wire.post("/sessions/resolve", #"{"eid":"\#(eid)"}"#)
        #expect(
            resolved.names == "amount_cents currency exp_at memo payee_display payee_id sid status"
        )
        #expect(resolved.members["payee_display"] as? [String: String] == ["name": "Corner.Cafe"])
        #expect(resolved.integer("amount_cents") == 450)

        let locked = try await wire.lock(sid, by: payer)
        #expect(locked.names == "lock_expires_at ok" && locked.members["ok"] as? Bool == true)

        let sent = try await wire.send(sid, by: payer, key: "0123456789abcdef")
        #expect(sent.status == 200 && sent.names == "new_balance_cents ok transfer_id")
        #expect(sent.text.contains(#""new_balance_cents":9550,"#))
        #expect(sent.headers["idempotent-replayed"] == nil)

        let wallet = try await wire.get("/wallet/me", token: payee)
        #expect(wallet.names == "available_cents currency recent wallet_id")
        #expect(wallet.integer("available_cents") == 10_450)
        let recent = try #require(wallet.members["recent"] as? [[String: Any]])
        #expect(
            recent[0].keys.sorted() == [
                "amount_cents", "created_at", "currency", "direction", "id", "memo", "type",
            ]
        )
        #expect(recent.map { $0["type"] as? String } == ["RECEIVE_P2P", "DEV_OPENING"])
        #expect(recent.map { $0["direction"] as? String } == ["CREDIT", "CREDIT"])

        let outcome = try await wire.get("/wallet/sends/0123456789abcdef", token: payer)
        #expect(outcome.names == "new_balance_cents outcome sid status transfer_id")
        let session = try await wire.get("/sessions/\(sid)", token: payee)
        #expect(
            session.names == "amount_cents currency exp_at memo paid_at sid status version"
        )
    }

    @Test(
        "A repeated payment gets the same bytes, with or without quotes around its key",
        arguments: DatabaseKind.all
    )
    func replay(kind: DatabaseKind) async throws {
        let wire = try await kind.wire()
        let payee = try await wire.login("payee")
        let payer = try await wire.login("payer")
        let sid = try await wire.lockedSession(payee, payer, cents: 5)
        let first = try await wire.send(sid, by: payer, key: "0123456789abcdef")
        let second = try await wire.send(sid, by: payer, key: #""0123456789abcdef""#)
        #expect(second.bytes == first.bytes && second.status == first.status)
        #expect(second.headers["idempotent-replayed"] == "true")

        let unpaid = try await wire.lockedSession(payee, payer, cents: 100_000)
        let declined = try await wire.send(unpaid, by: payer, key: "0123456789abcdef-2")
        let resent = try await wire.send(unpaid, by: payer, key: "0123456789abcdef-2")
        #expect(declined.status == 402 && declined.bytes == resent.bytes)
        #expect(declined.integer("required_cents") == 100_000)
        #expect(declined.integer("available_cents") == 9_995)
        #expect(declined.members["retryable"] as? Bool == false)
        let outcome = try await wire.get("/wallet/sends/0123456789abcdef-2", token: payer)
        #expect(outcome.names == "code detail outcome sid status")
    }

    @Test(
        "A payment sent a hundred times at once with one key charges once and gets one reply",
        arguments: DatabaseKind.all
    )
    func hundred(kind: DatabaseKind) async throws {
        let wire = try await kind.wire()
        let payee = try await wire.login("payee")
        let payer = try await wire.login("payer")
        let sid = try await wire.lockedSession(payee, payer, cents: 7)
        let bodies = try await withThrowingTaskGroup(of: Data.self) { group in
            for _ in 0..<100 {
                group.addTask { try await wire.send(sid, by: payer, key: "0123456789abcdef").bytes }
            }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(bodies.count == 1)
        #expect(try await wire.balance(payer) == 9_993)
    }

    @Test("A payment can be made with curl", arguments: DatabaseKind.single)
    func curl(kind: DatabaseKind) async throws {
        let wire = try await kind.wire()
        let payee = try await wire.login("payee")
        let payer = try await wire.login("payer")
        let sid = try await wire.lockedSession(payee, payer, cents: 5)
        let curl = try Program(
            "/usr/bin/curl",
            [
                "-s", "-i", "\(wire.base)/wallet/send", "-H", "Authorization: Bearer \(payer)",
                "-H", "Content-Type: application/json; charset=utf-8",
                "-H", "Idempotency-Key: 0123456789abcdef", "-H", "X-Request-ID: till-7",
                "-d", #" { "sid" : "\#(sid)" , "expected_amount_cents" : 5 } "#,
            ]
        )
        #expect(try await curl.exitCode() == 0)
        #expect(curl.text.hasPrefix("HTTP/1.1 200 OK"))
        #expect(curl.text.lowercased().contains("x-request-id: till-7"))
        #expect(curl.text.contains(#"{"new_balance_cents":9995,"ok":true,"transfer_id":""#))
    }

    @Test(
        "The API description is served, and each address in it refuses PATCH, TRACE and M-SEARCH",
        arguments: DatabaseKind.single
    )
    func description(kind: DatabaseKind) async throws {
        let wire = try await kind.wire()
        let document = try await wire.get("/openapi.yaml")
        #expect(document.headers["content-type"] == "application/yaml")
        let paths = document.text.matches(of: /(?m)^  (\/[^:]*):$/).map(\.output.1)
        #expect(paths.count > 25, "\(paths)")
        for path in paths {
            let address = path.replacing("{sid}", with: "x").replacing("{key}", with: "x")
            for method in ["PATCH", "TRACE", "M-SEARCH"] {
                let reply = try await wire.call(method, String(address))
                #expect(reply.code == "METHOD_NOT_ALLOWED", "\(method) \(path)")
                #expect(reply.headers["allow"] != nil, "\(method) \(path)")
            }
        }
        #expect(try await wire.call("PATCH", "/healthz").headers["allow"] == "GET, HEAD")
    }
}
