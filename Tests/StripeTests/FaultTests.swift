import AsyncHTTPClient
import GotchuCore
import StripeTestSupport
import TestSupport
import Testing

@testable import Stripe

@Suite("Stripe's faults")
struct FaultTests {
    private static func call(_ key: String, amount: Int64 = 500) throws -> StripeCall<PaymentIntent>
    {
        let charging = NamedAmount(
            amount: amount,
            currency: .usd,
            metadata: ["gotchu_deposit": key]
        )
        return .createPaymentIntent(charging, key: try #require(CallKey(key)))
    }

    private static func count(_ standIn: StripeStandIn) async throws -> Int? {
        try await standIn.state()["intents"]?.list?.count
    }

    @Test(
        "After each fault the same call with the same key leads to one payment",
        arguments: [
            ("refused", "unknown"), ("lost", "unknown"), ("torn", "unknown"), ("html", "unknown"),
            ("conflict", "throttled"), ("limit", "throttled"), ("error", "unknown"),
            ("unauthorized", "misconfigured"), ("slow", "unknown"),
        ]
    )
    func again(fault: String, outcome: String) async throws {
        try await StripeStandIn.with { standIn in
            let client = try standIn.client(limit: .milliseconds(fault == "slow" ? 500 : 10_000))
            try await standIn.fault(fault, of: "POST /v1/payment_intents", ["seconds": .integer(2)])
            let first = await client.send(try Self.call("a"))
            #expect(first.kind.rawValue == outcome)
            let patient = try standIn.client()
            #expect(await patient.send(try Self.call("a")).kind.rawValue == "done")
            #expect(await patient.send(try Self.call("a")).kind.rawValue == "done")
            #expect(try await Self.count(standIn) == 1)
        }
    }

    @Test(
        "A failure that Stripe keeps under a key is replayed, and only a list shows its effect",
        arguments: [false, true]
    )
    func kept(hasEffect: Bool) async throws {
        try await StripeStandIn.with { standIn in
            let client = try standIn.client()
            try await standIn.fault("kept", ["effect": .boolean(hasEffect)])
            #expect(await client.send(try Self.call("a")).kind.rawValue == "unknown")
            #expect(await client.send(try Self.call("a")).kind.rawValue == "unresolved")
            let from = Timestamp.now.advanced(by: .seconds(-60))
            let to = Timestamp.now.advanced(by: .seconds(60))
            let list = await client.send(.paymentIntents(from: from, to: to, after: nil))
            guard case .done(let found) = list else {
                throw NeverHappened(description: "there is a list: \(list)")
            }
            #expect(found.data.map(\.metadata) == (hasEffect ? [["gotchu_deposit": "a"]] : []))
            try await standIn.order("advance", ["seconds": .integer(86_400)])
            #expect(
                await client.send(try Self.call("a")).kind.rawValue == "done",
                "Stripe forgets a key after a day"
            )
        }
    }

    @Test("20 simultaneous calls with one key make one payment, and another amount is refused")
    func reused() async throws {
        try await StripeStandIn.with { standIn in
            let client = try standIn.client()
            let call = try Self.call("a")
            let ids = try await withThrowingTaskGroup(of: String?.self) { group in
                for _ in 0..<20 {
                    group.addTask {
                        guard case .done(let intent) = await client.send(call) else { return nil }
                        return intent.id
                    }
                }
                return try await group.reduce(into: Set<String?>()) { $0.insert($1) }
            }
            #expect(ids.count == 1 && ids.first.flatMap(\.self) != nil)
            #expect(
                await client.send(try Self.call("a", amount: 501)).kind.rawValue == "key_reused"
            )
        }
    }

    @Test("A revoked key is a misconfiguration, and a missing answer is an unknown outcome")
    func away() async throws {
        try await StripeStandIn.with { standIn in
            let client = try standIn.client()
            try await standIn.order("revoke")
            let revoked = await client.send(.ownAccount)
            #expect(revoked.kind.rawValue == "misconfigured" && revoked.isAnswer)
            guard case .misconfigured(let problem) = revoked else { return }
            #expect(problem.message == "")
            try await standIn.order("clear")
            try await standIn.order("away")
            let away = await client.send(.ownAccount)
            #expect(away.kind.rawValue == "unknown" && !away.isAnswer)
            try await standIn.order("clear")
            #expect(await client.send(.ownAccount).kind.rawValue == "done")
        }
    }

    @Test("A reply that is too large is an unknown outcome with that reason")
    func large() async throws {
        let server = try OddServer()
        defer { server.stop() }
        let size = StripeClient.replyLimit + 1
        let head = "HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n"
        server.answer(Array(head.utf8) + [UInt8](repeating: 0x20, count: size))
        try await Self.withClient(of: server) { client in
            guard case .unknown(let fault) = await client.send(.ownAccount) else {
                throw NeverHappened(description: "the outcome is unknown")
            }
            #expect(fault.reason == .tooLarge)
        }
    }

    @Test("Every odd reply is an unknown outcome")
    func odd() async throws {
        let server = try OddServer()
        defer { server.stop() }
        for reply in OddReplies.all() {
            server.answer(reply.bytes)
            // Each case has a new client, because a client pauses between its calls.
            try await Self.withClient(of: server) { client in
                let outcome = await client.send(.ownAccount)
                #expect(outcome.kind.rawValue == "unknown", "\(reply.name): \(outcome)")
            }
        }
    }

    private static func withClient(
        of server: OddServer,
        _ body: (StripeClient) async throws -> Void
    ) async throws {
        let http = HTTPClient(
            eventLoopGroupProvider: .singleton,
            configuration: StripeClient.httpConfiguration
        )
        let secret = try #require(StripeSecretKey("sk_test_odd"))
        let address = "http://127.0.0.1:\(server.port)"
        do {
            try await body(StripeClient(address: address, secret: secret, http: http))
        } catch {
            try? await http.shutdown()
            throw error
        }
        try await http.shutdown()
    }
}
