import TestSupport
import Testing

/// Tests of deposits and withdrawals on a development server, where the mint carries them out at
/// once.
@Suite("Deposits and withdrawals")
struct WalletFundingTests {
    private static let key = "funding-key-0000"

    private func intent(
        _ wire: Wire,
        _ token: String,
        cents: Int64,
        key: String
    ) async throws -> WireReply {
        try await wire.post(
            "/api/payments/intents",
            #"{"amount_cents":\#(cents)}"#,
            token: token,
            key: key
        )
    }

    private func withdrawal(
        _ wire: Wire,
        _ token: String,
        cents: Int64,
        key: String
    ) async throws -> WireReply {
        try await wire.post(
            "/api/wallet/withdrawals",
            #"{"amount_cents":\#(cents)}"#,
            token: token,
            key: key
        )
    }

    @Test(
        "Twenty simultaneous requests with one key make one deposit and get the same answer",
        arguments: DatabaseKind.all
    )
    func once(kind: DatabaseKind) async throws {
        let server = try await kind.server(opening: 0)
        let wire = server.wire
        let token = try await wire.login("payer")
        let replies = try await withThrowingTaskGroup(of: WireReply.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    try await intent(wire, token, cents: 2_000, key: Self.key)
                }
            }
            return try await group.reduce(into: [WireReply]()) { $0.append($1) }
        }
        #expect(replies.allSatisfy { $0.status == 200 }, "\(replies.map(\.text))")
        #expect(Set(replies.map(\.text)).count == 1)
        #expect(replies.count { $0.headers["idempotent-replayed"] == "true" } == 19)
        #expect(replies[0].string("status") == "SUCCEEDED")
        #expect(try await wire.get("/wallet/me", token: token).integer("available_cents") == 2_000)
        let reused = try await intent(wire, token, cents: 2_001, key: Self.key)
        #expect(reused.status == 422)
        try await kind.verify(server)
    }

    @Test(
        "Deposited money is withdrawn once per key, and a withdrawal above the balance is refused",
        arguments: DatabaseKind.all
    )
    func outAgain(kind: DatabaseKind) async throws {
        let server = try await kind.server(opening: 0)
        let wire = server.wire
        let token = try await wire.login("payee")
        _ = try await intent(wire, token, cents: 5_000, key: Self.key)
        let first = try await withdrawal(wire, token, cents: 3_000, key: Self.key)
        #expect(first.status == 202)
        #expect(first.string("status") == "paid")
        let again = try await withdrawal(wire, token, cents: 3_000, key: Self.key)
        #expect(again.text == first.text)
        let poor = try await withdrawal(wire, token, cents: 2_001, key: Self.key + "2")
        #expect(poor.status == 402)
        #expect(poor.integer("available_cents") == 2_000)
        let listed = try await wire.get("/api/wallet/withdrawals", token: token)
        #expect(listed.text.contains(first.string("withdrawal_id")))
        let id = first.string("withdrawal_id")
        let late = try await wire.post("/api/wallet/withdrawals/\(id)/cancel", "", token: token)
        #expect(late.status == 409 && late.code == "WITHDRAWAL_TOO_LATE")
        let status = try await wire.get("/api/connect/status", token: token)
        #expect(status.string("status") == "ACTIVE")
        let other = try await wire.login("other")
        #expect(try await wire.get("/api/wallet/withdrawals/\(id)", token: other).status == 404)
        try await kind.verify(server)
    }

    @Test("A deposit above the operator's limits is refused")
    func limits() async throws {
        let server = try await ServerProcess(
            opening: 0,
            environment: [
                "GOTCHU_SERVER_DEPOSIT_MAXIMUM": "1000", "GOTCHU_SERVER_BALANCE_MAXIMUM": "1500",
            ]
        )
        let token = try await server.wire.login("payer")
        let large = try await intent(server.wire, token, cents: 1_001, key: Self.key)
        #expect(large.status == 409 && large.code == "DEPOSIT_LIMIT")
        #expect(try await intent(server.wire, token, cents: 99, key: Self.key + "1").status == 400)
        #expect(
            try await intent(server.wire, token, cents: 1_000, key: Self.key + "2").status == 200
        )
        let full = try await intent(server.wire, token, cents: 1_000, key: Self.key + "3")
        #expect(full.code == "DEPOSIT_LIMIT")
        #expect(
            try await server.wire.get("/wallet/me", token: token).integer("available_cents")
                == 1_000
        )
    }

    @Test("The refusal of an amount names the smallest and the largest")
    func range() async throws {
        let server = try await ServerProcess()
        let token = try await server.wire.login("payer")
        for cents in [-1, 0, 99, 100_000_001] as [Int64] {
            for reply in [
                try await intent(server.wire, token, cents: cents, key: Self.key),
                try await withdrawal(server.wire, token, cents: cents, key: Self.key),
            ] {
                #expect(reply.status == 400, "\(reply.text)")
                #expect(reply.text.contains("between $1.00 and $1,000,000.00."), "\(reply.text)")
            }
        }
    }

    @Test("A deposit by a user who is not in the funding users file is refused as not configured")
    func notConfigured() async throws {
        let users = try TemporaryFolder()
        let list = try users.write("nobody\n", to: "users")
        let server = try await ServerProcess(
            environment: ["GOTCHU_SERVER_FUNDING_USERS_FILE": list]
        )
        let token = try await server.wire.login("payer")
        let reply = try await intent(server.wire, token, cents: 500, key: Self.key)
        #expect(reply.status == 404 && reply.code == "FUNDING_NOT_CONFIGURED")
        #expect(reply.text.contains("GOTCHU_SERVER_FUNDING_USERS_FILE"), "\(reply.text)")
    }

    @Test("The house's take is deducted from the payee's credit, and partial refunds return it")
    func take() async throws {
        let server = try await ServerProcess(
            environment: ["GOTCHU_SERVER_TAKE_BASIS_POINTS": "333"]
        )
        let wire = server.wire
        let (payee, payer) = (try await wire.login("payee"), try await wire.login("payer"))
        let sid = try await wire.create(payee, cents: 1_001).string("sid")
        _ = try await wire.lock(sid, by: payer)
        _ = try await wire.send(sid, by: payer, key: Self.key)
        #expect(
            try await wire.get("/wallet/me", token: payee).integer("available_cents") == 10_968
        )
        let earnings = try await wire.get("/api/payments/earnings", token: payee)
        #expect(earnings.integer("all_time_cents") == 968)
        #expect(earnings.integer("pending_cents") == 968)
        for (index, cents) in [1, 500, 499, 1].enumerated() {
            let refund = try await wire.post(
                "/sessions/\(sid)/refund",
                #"{"amount_cents":\#(cents)}"#,
                token: payee,
                key: Self.key + "\(index)"
            )
            #expect(refund.status == 200, "\(refund.text)")
        }
        #expect(
            try await wire.get("/wallet/me", token: payee).integer("available_cents") == 10_000
        )
        #expect(
            try await wire.get("/wallet/me", token: payer).integer("available_cents") == 10_000
        )
        let verified = try await ServerProcess.run("verify", "--database", "sqlite:\(server.path)")
        #expect(verified.code == 0, "\(verified.text)")
    }
}

extension DatabaseKind {
    /// Verifies an SQLite database while its server runs; does nothing for PostgreSQL.
    fileprivate func verify(_ server: ServerProcess) async throws {
        guard self == .sqlite else { return }
        let verified = try await ServerProcess.run("verify", "--database", "sqlite:\(server.path)")
        #expect(verified.code == 0, "\(verified.text)")
    }
}
