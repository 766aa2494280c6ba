import Glibc
import GotchuCore
import StripeTestSupport
import TestSupport
import Testing

@testable import GotchuServer

/// Tests of deposits and payouts as payers, payees and the operator see them, with a real server
/// and a stand-in for Stripe.
@Suite("Deposits and payouts with a stand-in for Stripe")
struct FundingStoryTests {
    private static let opening: Int64 = 10_000

    @Test(
        "A deposit is credited once, even if its webhooks are repeated, late, lost or badly signed",
        arguments: [
            "usual", "twice", "reversed", "late", "early", "lost", "foreign", "badly signed",
        ]
    )
    func webhooks(mode: String) async throws {
        try await FundingRig.with { rig in
            let payer = try await rig.wire().login("payer")
            try await rig.standIn.order("webhooks", ["mode": .text(mode)])
            for (number, isHosted) in [true, false].enumerated() {
                let made = try await rig.deposit(
                    payer,
                    cents: 2_000,
                    key: "\(number)",
                    hosted: isHosted
                )
                #expect(made.status == 200, "\(made.text)")
                let path = "/api/payments/intents/" + made.string("payment_intent_id")
                let object = try await rig.stripeID(of: made)
                try await rig.standIn.order("pay", ["name": .text(object)])
                try await rig.standIn.order("flush")
                let paid = try await rig.wait(payer, for: path, "status", toBe: "SUCCEEDED")
                #expect(paid.members["credited_at"] != nil)
            }
            #expect(try await rig.wire().balance(payer) == Self.opening + 4_000)
            let calls = ["checkout_sessions.create", "payment_intents.create"]
            for call in calls {
                let count = try await rig.wire().metric(
                    "gotchu_server_stripe_requests_total",
                    #"call="\#(call)",outcome="done""#
                )
                #expect(count == 1)
            }
        }
    }

    @Test(
        "Twenty simultaneous requests with one key open one deposit, and another amount is refused"
    )
    func key() async throws {
        try await FundingRig.with { rig in
            let payer = try await rig.wire().login("payer")
            let replies = try await withThrowingTaskGroup(of: WireReply.self) { group in
                for _ in 0..<20 {
                    group.addTask { try await rig.deposit(payer, cents: 2_000, key: "one") }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(Set(replies.map { $0.string("payment_intent_id") }).count == 1)
            #expect(Set(replies.map { $0.string("checkout_url") }).count == 1)
            #expect(try await rig.count("sessions") == 1)
            let other = try await rig.deposit(payer, cents: 2_001, key: "one")
            #expect(other.status == 422)
        }
    }

    @Test("A deposit is paid once after a declined card, and a deposit that Stripe refuses fails")
    func declined() async throws {
        try await FundingRig.with { rig in
            let payer = try await rig.wire().login("payer")
            let made = try await rig.deposit(payer, cents: 2_000, key: "a", hosted: false)
            let path = "/api/payments/intents/" + made.string("payment_intent_id")
            let name = ControlValue.text(try await rig.stripeID(of: made))
            try await rig.standIn.order("decline", ["name": name])
            try await eventually("the payer sees that the card was declined") {
                let reply = try await rig.wire().get(path, token: payer)
                let error = reply.members["last_error"] as? [String: Any]
                return error?["code"] as? String == "generic_decline" ? true : nil
            }
            try await rig.standIn.order("pay", ["name": name])
            try await rig.waitForBalance(payer, Self.opening + 2_000)
            try await rig.wait(payer, for: path, "status", toBe: "SUCCEEDED")
            try await rig.standIn.fault("no", of: "POST /v1/payment_intents")
            let refused = try await rig.deposit(payer, cents: 700, key: "b", hosted: false)
            #expect(refused.status == 502 && refused.code == "PROVIDER_REFUSED", "\(refused.text)")
            #expect(refused.string("detail").hasSuffix("Nothing was charged."), "\(refused.text)")
        }
    }

    @Test(
        "An unpaid deposit can be cancelled, and a paid deposit is credited instead"
    )
    func cancel() async throws {
        try await FundingRig.with { rig in
            let payer = try await rig.wire().login("payer")
            let first = try await rig.deposit(payer, cents: 2_000, key: "a")
            let path = "/api/payments/intents/"
            let cancelled = try await rig.wire().post(
                path + first.string("payment_intent_id") + "/cancel",
                token: payer
            )
            #expect(cancelled.string("status") == "CANCELED", "\(cancelled.text)")
            let second = try await rig.deposit(payer, cents: 700, key: "b", hosted: false)
            try await rig.standIn.order("webhooks", ["mode": .text("lost")])
            let name = ControlValue.text(try await rig.stripeID(of: second))
            try await rig.standIn.order("pay", ["name": name])
            let late = try await rig.wire().post(
                path + second.string("payment_intent_id") + "/cancel",
                token: payer
            )
            #expect(late.status == 409 && late.code == "INTENT_SETTLED", "\(late.text)")
            try await rig.waitForBalance(payer, Self.opening + 700)
        }
    }

    @Test(
        "A refund of spent money is a debt that the next deposit pays; a failed refund is undone"
    )
    func refund() async throws {
        try await FundingRig.with { rig in
            let payer = try await rig.wire().login("payer")
            let payee = try await rig.wire().login("payee")
            let made = try await rig.deposit(payer, cents: 2_000, key: "a", hosted: false)
            let name = ControlValue.text(try await rig.stripeID(of: made))
            try await rig.standIn.order("pay", ["name": name])
            try await rig.waitForBalance(payer, Self.opening + 2_000)
            let sid = try await rig.wire().lockedSession(payee, payer, cents: 11_500)
            #expect(
                try await rig.wire().send(sid, by: payer, key: FundingRig.idempotencyKey("k"))
                    .status == 200
            )
            let refund = try await rig.standIn.order("refund", ["name": name])
            try await rig.waitForBalance(payer, 0)
            let second = try await rig.deposit(payer, cents: 2_000, key: "b", hosted: false)
            let other = ControlValue.text(try await rig.stripeID(of: second))
            try await rig.standIn.order("pay", ["name": other])
            try await rig.waitForBalance(payer, 500)
            try await rig.standIn.order("fail_refund", ["name": refund["id"] ?? .null])
            try await rig.waitForBalance(payer, 2_500)
        }
    }

    @Test(
        "A dispute debits the wallet, a won dispute credits it again, and an inquiry does neither"
    )
    func dispute() async throws {
        try await FundingRig.with { rig in
            let payer = try await rig.wire().login("payer")
            try await rig.standIn.order("set", ["fee_is_late": .boolean(true)])
            let made = try await rig.deposit(payer, cents: 2_000, key: "a", hosted: false)
            let name = ControlValue.text(try await rig.stripeID(of: made))
            try await rig.standIn.order("pay", ["name": name])
            try await rig.waitForBalance(payer, Self.opening + 2_000)
            let charge = try await rig.last("charges")
            try await rig.standIn.order("settle", ["charge": .text(charge)])
            let inquiry: [String: ControlValue] = ["name": name, "is_inquiry": .boolean(true)]
            try await rig.standIn.order("dispute", inquiry)
            let dispute = try await rig.standIn.order("dispute", ["name": name])
            try await rig.waitForBalance(payer, Self.opening)
            let won: [String: ControlValue] = [
                "name": dispute["id"] ?? .null, "status": .text("won"),
            ]
            try await rig.standIn.order("close", won)
            try await rig.waitForBalance(payer, Self.opening + 2_000)
        }
    }

    @Test("A payment with another amount than the deposit's is not credited")
    func wrongAmount() async throws {
        try await FundingRig.with { rig in
            let payer = try await rig.wire().login("payer")
            let made = try await rig.deposit(payer, cents: 2_000, key: "a", hosted: false)
            let name = ControlValue.text(try await rig.stripeID(of: made))
            try await rig.standIn.order("pay", ["name": name, "amount": .integer(1_999)])
            let path = "/api/payments/intents/" + made.string("payment_intent_id")
            try await rig.wait(payer, for: path, "status", toBe: "PROCESSING")
            #expect(try await rig.wire().balance(payer) == Self.opening)
        }
    }

    /// Returns the time in which eight payers make forty payments each.
    private static func pay(_ rig: FundingRig, round: String) async throws -> Duration {
        let wire = await rig.wire()
        let payee = try await wire.login("payee")
        var payers: [String] = []
        for number in 0..<8 { payers.append(try await wire.login("payer\(number)")) }
        return try await ContinuousClock().measure {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for payer in payers {
                    group.addTask {
                        for number in 0..<40 {
                            let sid = try await wire.lockedSession(payee, payer, cents: 1)
                            let key = FundingRig.idempotencyKey("\(round)-\(number)")
                            #expect(try await wire.send(sid, by: payer, key: key).status == 200)
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test(
        "Payments do not wait while Stripe is down or hangs, and a refused deposit can be repeated",
        arguments: ["down", "hanging"]
    )
    func stripeOutage(fault: String) async throws {
        // All payments have the same payee, whose calls would exceed the usual limit.
        try await FundingRig.with(more: ["CALLS_PER_SECOND": "10000"]) { rig in
            let payer = try await rig.wire().login("payer")
            let payee = try await rig.wire().login("payee")
            _ = try await rig.onboard(payee)
            let before = try await Self.pay(rig, round: "before")
            if fault == "hanging" {
                let pause: [String: ControlValue] = ["seconds": .integer(40)]
                try await rig.standIn.fault("slow", times: 1_000, pause)
            } else {
                try await rig.standIn.order("away")
            }
            // The server repeats the calls for these withdrawals during the payments.
            for number in 0..<5 {
                _ = try await rig.withdraw(payee, cents: 100, key: "w\(number)")
            }
            let meanwhile = try await Self.pay(rig, round: "meanwhile")
            // The bound is high because the load of the machine varies. A payment that waited for
            // Stripe would take half a minute.
            #expect(meanwhile < before * 4 + .seconds(2), "\(before) before, \(meanwhile)")
            guard fault == "down" else {
                try await rig.standIn.order("clear")
                return
            }
            let body = #"{"amount_cents":2000,"presentation":"hosted"}"#
            let refused = try await rig.wire().post(
                "/api/payments/intents",
                body,
                token: payer,
                key: FundingRig.idempotencyKey("a")
            )
            #expect(refused.status == 503 && refused.code == "PROVIDER_UNAVAILABLE")
            #expect(try await rig.wire().metric("gotchu_server_stripe_up") == 0)
            try await rig.standIn.order("clear")
            let made = try await rig.deposit(payer, cents: 2_000, key: "a")
            #expect(made.status == 200 && made.headers["idempotent-replayed"] == "true")
            #expect(try await rig.count("sessions") == 1)
        }
    }

    @Test("A deposit's status is shown within ten seconds although Stripe hangs for longer")
    func hangingPages() async throws {
        try await FundingRig.with { rig in
            let payer = try await rig.wire().login("payer")
            let made = try await rig.deposit(payer, cents: 2_000, key: "a")
            let path = "/api/payments/intents/" + made.string("payment_intent_id")
            try await rig.standIn.fault("slow", times: 1_000, ["seconds": .integer(40)])
            let time = try await ContinuousClock().measure {
                let reply = try await rig.wire().get(path, token: payer)
                #expect(reply.string("status") == "REQUIRES_PAYMENT_METHOD", "\(reply.text)")
            }
            #expect(time < .seconds(10), "\(time)")
            try await rig.standIn.order("clear")
        }
    }

    @Test(
        "A server exits if its key is of another Stripe account than before, and otherwise starts"
    )
    func otherAccount() async throws {
        try await FundingRig.with { rig in
            try await eventually("the server has read its Stripe account") {
                let state = try await rig.standIn.state()["requests"]?.list ?? []
                return state.contains { $0["path"]?.text == "/v1/account" } ? true : nil
            }
            let payer = try await rig.wire().login("payer")
            #expect(try await rig.deposit(payer, cents: 500, key: "a").status == 200)
            try await rig.kill()
            #expect(try await rig.deposit(payer, cents: 500, key: "b").status == 200)
            let other: [String: ControlValue] = [
                "key": .text(FundingRig.key), "account": .text("acct_other"),
            ]
            try await rig.standIn.order("other_key", other)
            await rig.program.signal(SIGKILL)
            try await rig.restart()
            let program = await rig.program
            #expect(try await program.exitCode() == 65)
            #expect(program.text.contains("Stripe's key is of another account"))
            #expect(!program.text.contains("CancellationError"), "\(program.text)")
            try await rig.standIn.order(
                "other_key",
                ["key": .text(FundingRig.key), "account": .text("acct_platform")]
            )
            try await rig.restart()
        }
    }

    @Test("Two servers that receive every webhook credit each deposit once and pay out once")
    func twoServers() async throws {
        try await FundingRig.with(.postgresql, servers: 2) { rig in
            let payer = try await rig.wire().login("payer")
            for number in 0..<3 {
                let made = try await rig.deposit(payer, cents: 1_000, key: "k\(number)")
                let name = ControlValue.text(try await rig.stripeID(of: made))
                try await rig.standIn.order("pay", ["name": name])
            }
            try await rig.waitForBalance(payer, Self.opening + 3_000)
            let payee = try await rig.wire(1).login("payee")
            _ = try await rig.onboard(payee)
            try await rig.standIn.order("fund", ["amount": .integer(50_000)])
            // The calls are so slow that the other server takes over the work of the first server.
            try await rig.standIn.fault(
                "slow",
                of: "POST /v1/transfers",
                times: 2,
                ["seconds": .integer(12)]
            )
            for number in 0..<3 {
                _ = try await rig.wire(number).post(
                    "/api/wallet/withdrawals",
                    #"{"amount_cents":1000}"#,
                    token: payee,
                    key: FundingRig.idempotencyKey("w\(number)")
                )
            }
            try await eventually("there are three payouts") {
                try await rig.count("payouts") == 3 ? true : nil
            }
            #expect(try await rig.count("transfers") == 3)
            #expect(try await rig.wire(1).balance(payee) == Self.opening - 3_000)
        }
    }
}
