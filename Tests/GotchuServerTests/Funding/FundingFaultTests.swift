import SQLite
import StripeTestSupport
import TestSupport
import Testing

@testable import GotchuServer

/// Tests of repeated requests, closed accounts, damaged records and debts, with a real server and
/// a stand-in for Stripe.
@Suite("Faults around the provider")
struct FundingFaultTests {
    @Test("A payer who repeats a deposit request is rate-limited, and another payer is not")
    func repeated() async throws {
        try await FundingRig.with { rig in
            let wire = await rig.wire()
            let (eager, other) = (try await wire.login("eager"), try await wire.login("other"))
            let first = try await rig.deposit(eager, cents: 500, key: "a")
            #expect(first.status == 200)
            async let made = wire.post(
                "/api/payments/intents",
                #"{"amount_cents":700,"presentation":"hosted"}"#,
                token: other,
                key: FundingRig.idempotencyKey("b")
            )
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<80 {
                    group.addTask {
                        try await wire.post(
                            "/api/payments/intents",
                            #"{"amount_cents":500,"presentation":"hosted"}"#,
                            token: eager,
                            key: FundingRig.idempotencyKey("a")
                        ).status
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses.contains(429) && statuses.contains(200), "\(statuses)")
            let status = try await made.status
            #expect(status == 200)
            #expect(try await rig.count("sessions") == 2)
        }
    }

    @Test("An unreadable record of a deposit does not block the events of another deposit")
    func unreadable() async throws {
        try await FundingRig.with { rig in
            let payer = try await rig.wire().login("payer")
            var intents: [String] = []
            var ids: [String] = []
            for (number, key) in ["a", "b"].enumerated() {
                let made = try await rig.deposit(payer, cents: 1_000, key: key)
                ids.append(made.string("payment_intent_id"))
                let name = ControlValue.text(try await rig.stripeID(of: made))
                try await rig.standIn.order("pay", ["name": name])
                try await rig.waitForBalance(payer, 11_000 + 1_000 * Int64(number))
                intents.append(try await rig.last("intents"))
            }
            try await rig.standIn.order("webhooks", ["mode": .text("lost")])
            let damaged = ids[0]
            let (whole, broken) = (#"{"booked""#, #"{"brooked""#)
            try await rig.kill {
                try rig.database.damage(
                    "UPDATE records SET body = replace(body, '\(whole)', '\(broken)') "
                        + "WHERE id = '\(damaged)'"
                )
            }
            for intent in intents {
                try await rig.standIn.order(
                    "refund",
                    ["name": .text(intent), "amount": .integer(300)]
                )
            }
            // The server reads Stripe's list of events when it starts.
            try await rig.kill()
            try await rig.waitForBalance(payer, 11_700)
            try rig.database.damage(
                "UPDATE records SET body = replace(body, '\(broken)', '\(whole)') "
                    + "WHERE id = '\(damaged)'"
            )
        }
    }

    /// Returns the id of the withdrawal at a path.
    private static func id(_ path: String) -> String {
        path.split(separator: "/").last.map(String.init) ?? path
    }

    @Test("A payee whose account is closed gets the money back and can set up another account")
    func closed() async throws {
        try await FundingRig.with { rig in
            let wire = await rig.wire()
            let payee = try await wire.login("payee")
            let account = try await rig.onboard(payee)
            let link = try await wire.post("/api/connect/links", token: payee)
            #expect(link.string("url").contains("/express/"), "\(link.text)")
            try await rig.standIn.order("fund", ["amount": .integer(50_000)])
            let works = try await rig.run("payees", "renew", "payee@shop.example")
            #expect(works.code == 1 && works.text.contains("not restricted"), "\(works.text)")
            try await rig.standIn.order("close_account", ["name": .text(account)])
            let first = try await rig.withdraw(payee, cents: 2_000, key: "a")
            try await rig.wait(payee, for: first, "status", toBe: "failed")
            try await rig.wait(payee, for: "/api/connect/status", "status", toBe: "RESTRICTED")
            #expect(try await wire.balance(payee) == 10_000)
            let listed = try await rig.run("payees", "list")
            #expect(listed.text.contains("account_closed\t0.00"), "\(listed.text)")
            let renewed = try await rig.run("payees", "renew", "payee@shop.example")
            #expect(renewed.code == 0, "\(renewed.text)")
            _ = try await rig.onboard(payee)
            let second = try await rig.withdraw(payee, cents: 2_000, key: "b")
            try await rig.waitForPayouts(1)
            try await rig.movePayout(to: "paid")
            try await rig.wait(payee, for: second, "status", toBe: "paid")
            let late = try await rig.run("payouts", "return", Self.id(second))
            #expect(late.code == 1 && late.text.contains("is paid:"), "\(late.text)")
            let proof = try await rig.reconcile("--book")
            #expect(proof.code == 0, "\(proof.text)")
            #expect(proof.text.contains("note\t\(account) is closed"), "\(proof.text)")
        }
    }

    @Test(
        "A new payee's withdrawals count as unreleased until they are released, and can be stopped"
    )
    func unreleased() async throws {
        try await FundingRig.with(more: ["PAYOUT_FIRST_SALES": "1"]) { rig in
            let wire = await rig.wire()
            let (payee, other) = (try await wire.login("payee"), try await wire.login("other"))
            for token in [payee, other] { _ = try await rig.onboard(token) }
            try await rig.standIn.order("fund", ["amount": .integer(50_000)])
            let metric = "gotchu_server_withdrawals_unreleased"
            func waitForCount(_ expected: Double) async throws {
                try await eventually("\(expected) withdrawals are counted") {
                    try await wire.metric(metric) == expected ? true : nil
                }
            }
            let first = try await rig.withdraw(payee, cents: 1_000, key: "a")
            let waiting = try await wire.get(first, token: payee)
            #expect(waiting.string("reason") == "waiting_for_release", "\(waiting.text)")
            _ = try await rig.withdraw(payee, cents: 2_000, key: "b")
            try await waitForCount(2)
            let list = try await rig.run("payouts", "list", "--held").text
            #expect(list.ranges(of: "\twaiting_for_release\t").count == 2, "\(list)")
            let retried = try await rig.run("payouts", "retry", Self.id(first))
            #expect(retried.code == 1 && retried.text.contains("payouts release "))
            let payees = try await rig.run("payees", "list").text
            #expect(payees.ranges(of: "\tACTIVE\tnew\tacct_").count == 2, "\(payees)")
            let released = try await rig.run("payouts", "release", "payee@shop.example")
            #expect(released.code == 0 && released.text.contains("resumed: 2."), "\(released.text)")
            try await rig.waitForPayouts(2)
            try await waitForCount(0)
            #expect(try await rig.run("payees", "list").text.contains("\tACTIVE\treleased\tacct_"))
            #expect(try await wire.balance(payee) == 7_000)
            let stopped = try await rig.withdraw(other, cents: 3_000, key: "c")
            try await waitForCount(1)
            let ordered = try await rig.run("payouts", "return", Self.id(stopped))
            #expect(ordered.code == 0 && ordered.text.contains("is stopped"), "\(ordered.text)")
            // The command writes to the database only; the server reads the record again.
            try await waitForCount(0)
            let failed = try await wire.get(stopped, token: other)
            #expect(failed.string("status") == "failed")
            #expect(failed.string("reason") == "stopped_by_operator")
            #expect(try await wire.balance(other) == 10_000)
            let late = try await rig.run("payouts", "release", "other@shop.example")
            #expect(late.code == 0 && late.text.contains("resumed: 0."), "\(late.text)")
        }
    }

    @Test("A withdrawal whose transfer a locked database could not record is soon continued")
    func locked() async throws {
        try await FundingRig.with(more: ["PAYOUT_FIRST_SALES": "1"]) { rig in
            let payee = try await rig.wire().login("payee")
            _ = try await rig.onboard(payee)
            try await rig.standIn.order("fund", ["amount": .integer(50_000)])
            _ = try await rig.withdraw(payee, cents: 1_000, key: "a")
            let call = "POST /v1/transfers"
            let seconds = 2 * Int64(patience)
            try await rig.standIn.fault("slow", of: call, times: 1, ["seconds": .integer(seconds)])
            // An event about the transfer would cause a refresh of its own.
            try await rig.standIn.order("webhooks", ["mode": .text("lost")])
            _ = try await rig.run("payouts", "release", "payee@shop.example")
            try await eventually("the transfer is requested") {
                try await rig.calls(call) > 0 ? true : nil
            }
            let failure = "The refresh of a deposit, a withdrawal or a payee failed."
            let path = try #require(rig.database.sqlitePath)
            let other = try Connection(path: path, mode: .readWrite)
            try other.run("BEGIN IMMEDIATE")
            try await eventually("the transfer cannot be recorded") {
                await rig.program.text.contains(failure) ? true : nil
            }
            try other.run("ROLLBACK")
            let unlocked = ContinuousClock.now
            try await rig.waitForPayouts(1)
            #expect(ContinuousClock.now - unlocked < RefreshQueue.retryInterval * 4 * patience)
            #expect(try await rig.count("transfers") == 1)
        }
    }

    @Test("Recent money cannot be withdrawn, and commands use the running server's hold time")
    func terms() async throws {
        try await FundingRig.with(more: ["PAYOUT_HOLD_HOURS": "168"]) { rig in
            let payee = try await rig.wire().login("payee")
            _ = try await rig.onboard(payee)
            let list = try await rig.wire().get("/api/wallet/withdrawals", token: payee)
            #expect(
                list.text.contains(
                    #""withdrawable":{"available_cents":0,"held_cents":10000,"owed_cents":0}"#
                ),
                "\(list.text)"
            )
            let early = try await rig.wire().post(
                "/api/wallet/withdrawals",
                #"{"amount_cents":100}"#,
                token: payee,
                key: FundingRig.idempotencyKey("w")
            )
            #expect(early.status == 402 && early.integer("available_cents") == 0, "\(early.text)")
            #expect(try await rig.wire().balance(payee) == 10_000)
            let refused = try await rig.run("payouts", "pay", "payee@shop.example", "10.00")
            #expect(refused.code == 1 && refused.text.contains("on hold"), "\(refused.text)")
        }
    }

    @Test("A debt prevents or reduces a withdrawal, and a paid withdrawal has settled the debt")
    func debt() async throws {
        try await FundingRig.with { rig in
            let wire = await rig.wire()
            let (payee, shop) = (try await wire.login("payee"), try await wire.login("shop"))
            _ = try await rig.onboard(payee)
            let made = try await rig.deposit(payee, cents: 2_000, key: "a")
            try await rig.standIn.order("pay", ["name": .text(try await rig.stripeID(of: made))])
            try await rig.waitForBalance(payee, 12_000)
            try await Self.pay(12_000, from: payee, to: shop, on: wire)
            let intent = try await rig.last("intents")
            try await rig.standIn.order("dispute", ["name": .text(intent)])
            func owed() async throws -> String {
                try await wire.get("/api/wallet/withdrawals", token: payee).text
            }
            try await eventually("the dispute is booked") {
                try await owed().contains(#""owed_cents":2000"#) ? true : nil
            }
            let owing = try await wire.post(
                "/api/wallet/withdrawals",
                #"{"amount_cents":1000}"#,
                token: payee,
                key: FundingRig.idempotencyKey("owing")
            )
            #expect(owing.code == "WALLET_OWES", "\(owing.text)")
            try await Self.pay(3_000, from: shop, to: payee, on: wire)
            let parts = try await owed()
            #expect(parts.contains(#"{"available_cents":1000,"held_cents":0,"owed_cents":2000}"#))
            try await rig.standIn.order("fund", ["amount": .integer(50_000)])
            let withdrawal = try await rig.withdraw(payee, cents: 1_000, key: "w")
            try await rig.waitForPayouts(1)
            try await rig.movePayout(to: "paid")
            try await rig.wait(payee, for: withdrawal, "status", toBe: "paid")
            #expect(try await wire.balance(payee) == 0)
            #expect(try await owed().contains(#""owed_cents":0"#))
        }
    }

    private static func pay(
        _ cents: Int,
        from payer: String,
        to payee: String,
        on wire: Wire
    ) async throws {
        let sid = try await wire.lockedSession(payee, payer, cents: cents)
        let key = FundingRig.idempotencyKey("pay-\(cents)")
        let sent = try await wire.send(sid, by: payer, key: key)
        #expect(sent.status == 200, "\(sent.text)")
    }
}
