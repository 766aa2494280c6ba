import Foundation
import PostgresTestSupport
import TestSupport
import Testing

@Suite("A wallet's events")
struct WalletEventTests {
    /// The longest time between the reply to a call and its event.
    private static let limit: Duration = .seconds(1) * patience

    @Test(
        "The event streams of both wallets show a payment and a refund within the time limit",
        arguments: DatabaseKind.all
    )
    func payment(kind: DatabaseKind) async throws {
        let wire = try await kind.wire()
        let (payee, payer) = (try await wire.login("payee"), try await wire.login("payer"))
        var seller = try await EventStream(wire, walletOf: payee)
        var buyer = try await EventStream(wire, walletOf: payer)
        let opening = EventStream.Wallet(balance: 10_000, type: "deposit", amount: 10_000)
        #expect(try await seller.nextWallet() == opening)
        #expect(try await buyer.nextWallet() == opening)
        let created = try await wire.create(payee, cents: 450, more: #","memo":"Flat white""#)
        let sid = created.string("sid")
        _ = try await wire.lock(sid, by: payer)
        _ = try await wire.send(sid, by: payer, key: "0123456789abcdef")
        let paid = ContinuousClock.now
        #expect(
            try await buyer.nextWallet()
                == .init(balance: 9_550, type: "debit", amount: -450, memo: "Flat white")
        )
        #expect(
            try await seller.nextWallet()
                == .init(balance: 10_450, type: "credit", amount: 450, memo: "Flat white")
        )
        #expect(ContinuousClock.now - paid < Self.limit)
        _ = try await wire.post(
            "/sessions/\(sid)/refund",
            #"{"amount_cents":50}"#,
            token: payee,
            key: "0123456789abcdef"
        )
        let refunded = ContinuousClock.now
        #expect(
            try await buyer.nextWallet()
                == .init(balance: 9_600, type: "refund", amount: 50, memo: "Flat white")
        )
        #expect(
            try await seller.nextWallet()
                == .init(balance: 10_400, type: "refund", amount: -50, memo: "Flat white")
        )
        #expect(ContinuousClock.now - refunded < Self.limit)
    }

    @Test("A payment and a refund at one server appear on a wallet's stream at another server")
    func twoServers() async throws {
        let cluster = try PostgresCluster.shared()
        let url = cluster.url(try cluster.makeDatabase())
        let first = try await ServerProcess(database: url)
        let second = try await ServerProcess(database: url)
        let payee = try await first.wire.login("payee")
        let payer = try await first.wire.login("payer")
        var events = try await EventStream(second.wire, walletOf: payer)
        #expect(try await events.nextWallet()?.balance == 10_000)
        let sid = try await first.wire.lockedSession(payee, payer, cents: 5)
        _ = try await first.wire.send(sid, by: payer, key: "0123456789abcdef")
        let paid = ContinuousClock.now
        #expect(try await events.nextWallet() == .init(balance: 9_995, type: "debit", amount: -5))
        #expect(ContinuousClock.now - paid < Self.limit)
        let refund = "/sessions/\(sid)/refund"
        _ = try await first.wire.post(refund, "{}", token: payee, key: "0123456789abcdef")
        let refunded = ContinuousClock.now
        #expect(try await events.nextWallet() == .init(balance: 10_000, type: "refund", amount: 5))
        #expect(ContinuousClock.now - refunded < Self.limit)
    }

    @Test("A wallet's stream begins with its state, also after the client has reconnected")
    func reconnect() async throws {
        let server = try await ServerProcess()
        let wire = server.wire
        let (payee, payer) = (try await wire.login("payee"), try await wire.login("payer"))
        var events = try await EventStream(wire, walletOf: payer)
        #expect(try await events.nextWallet()?.balance == 10_000)
        #expect(try await server.stop() == 0)
        #expect(try await events.nextWallet() == nil)
        let again = try await ServerProcess(folder: server.folder)
        let sid = try await again.wire.lockedSession(payee, payer, cents: 5)
        _ = try await again.wire.send(sid, by: payer, key: "0123456789abcdef")
        events = try await EventStream(again.wire, walletOf: payer)
        #expect(try await events.nextWallet() == .init(balance: 9_995, type: "debit", amount: -5))
    }

    @Test("A user has at most 64 streams of wallets and sessions together")
    func bounded() async throws {
        let server = try await ServerProcess()
        let wire = server.wire
        let (payee, payer) = (try await wire.login("payee"), try await wire.login("payer"))
        let sid = try await wire.lockedSession(payee, payer, cents: 5)
        var open = [try await EventStream(wire, sid, token: payer)]
        for _ in 1..<64 { open.append(try await EventStream(wire, walletOf: payer)) }
        #expect(open.allSatisfy { $0.status == 200 })
        let refused = try await wire.get("/api/wallet/events", token: payer)
        #expect(refused.code == "RATE_LIMITED" && refused.headers["retry-after"] == "5")
        #expect(try await wire.get("/sessions/\(sid)/events", token: payer).code == "RATE_LIMITED")
        #expect(try await EventStream(wire, walletOf: payee).status == 200)
        #expect(try await wire.metric("gotchu_server_event_streams") == 65)
        open = []
        try await eventually("the server has ended all streams") {
            try await wire.metric("gotchu_server_event_streams") == 0 ? true : nil
        }
    }

    @Test("A request for a wallet's events that has no token or names a user is refused")
    func refused() async throws {
        let server = try await ServerProcess()
        #expect(try await server.wire.get("/api/wallet/events").code == "UNAUTHORIZED")
        let payer = try await server.wire.login("payer")
        let foreign = try await server.wire.get("/api/wallet/events?user_id=1", token: payer)
        #expect(foreign.code == "FORBIDDEN")
    }
}
