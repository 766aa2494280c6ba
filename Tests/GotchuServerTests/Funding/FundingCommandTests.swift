import StripeTestSupport
import TestSupport
import Testing

@testable import GotchuServer

/// Tests of the operator's commands for deposits, payees and payouts.
@Suite("The operator's commands for deposits, payees and payouts", .timeLimit(.minutes(hangLimit)))
struct FundingCommandTests {
    @Test("A deposit paid with a wrong amount is held, and can be accepted but not dropped")
    func accept() async throws {
        try await FundingRig.with { rig in
            let payer = try await rig.wire().login("payer")
            let made = try await rig.deposit(payer, cents: 2_000, key: "a", hosted: false)
            let name = ControlValue.text(try await rig.object(of: made))
            try await rig.standIn.order("pay", ["name": name, "amount": .integer(1_999)])
            let id = made.string("payment_intent_id")
            try await eventually("the deposit is held") {
                let list = try await rig.run("deposits", "list", "--held").text
                return list.contains("\(id)\t") && list.contains("\t20.00\t19.99\t") ? true : nil
            }
            let dropped = try await rig.run("deposits", "drop", id)
            #expect(dropped.code == 1, "\(dropped.text)")
            let accepted = try await rig.run("deposits", "accept", id)
            #expect(accepted.code == 0, "\(accepted.text)")
            try await rig.waitForBalance(payer, 11_999)
            #expect(try await rig.run("deposits", "list", "--held").text.isEmpty)
            #expect(try await rig.run("deposits", "accept", id).code == 1)
        }
    }

    @Test("A user's own deposit limit applies until it is reset to the usual limit")
    func limit() async throws {
        try await FundingRig.with(more: ["DEPOSIT_MAXIMUM": "1000"]) { rig in
            let payer = try await rig.wire().login("payer")
            #expect(try await rig.deposit(payer, cents: 1_500, key: "a").status == 409)
            let raised = try await rig.run(
                "deposits",
                "limit",
                "payer@shop.example",
                "--most",
                "20.00"
            )
            #expect(raised.code == 0 && raised.text.contains("20.00"), "\(raised.text)")
            #expect(try await rig.deposit(payer, cents: 1_500, key: "b").status == 200)
            let usual = try await rig.run("deposits", "limit", "payer@shop.example")
            #expect(usual.code == 0 && usual.text.contains("the usual"), "\(usual.text)")
            #expect(try await rig.deposit(payer, cents: 1_500, key: "c").status == 409)
        }
    }

    @Test("A withdrawal whose transfer cannot be reversed is held until the operator returns it")
    func returned() async throws {
        try await FundingRig.with { rig in
            let payee = try await rig.wire().login("payee")
            let account = ControlValue.text(try await rig.onboard(payee))
            try await rig.standIn.order("fund", ["amount": .integer(50_000)])
            let path = try await rig.withdraw(payee, cents: 4_000, key: "a")
            try await rig.waitForPayouts(1)
            try await rig.standIn.order("webhooks", ["mode": .text("late")])
            try await rig.movePayout(to: "failed")
            try await rig.standIn.order("take_all", ["name": account])
            try await rig.standIn.order("flush")
            try await rig.wait(payee, for: path, "reason", toBe: "insufficient_funds")
            #expect(try await rig.wire().balance(payee) == 6_000)
            let id = try #require(path.split(separator: "/").last.map(String.init))
            let list = try await rig.run("payouts", "list", "--held")
            #expect(list.text.contains("\(id)\t"), "\(list.text)")
            try await rig.standIn.order("give", ["name": account, "amount": .integer(4_000)])
            let ordered = try await rig.run("payouts", "return", id)
            #expect(ordered.code == 0, "\(ordered.text)")
            try await rig.wait(payee, for: path, "status", toBe: "failed")
            #expect(try await rig.wire().balance(payee) == 10_000)
            #expect(try await rig.run("payouts", "retry", id).code == 1)
        }
    }

    @Test("The retry of a held withdrawal first looks for an existing payout")
    func retried() async throws {
        try await FundingRig.with { rig in
            let payee = try await rig.wire().login("payee")
            let account = ControlValue.text(try await rig.onboard(payee))
            try await rig.standIn.order("fund", ["amount": .integer(50_000)])
            let path = try await rig.withdraw(payee, cents: 4_000, key: "a")
            try await rig.waitForPayouts(1)
            try await rig.standIn.order("webhooks", ["mode": .text("late")])
            try await rig.movePayout(to: "failed")
            try await rig.standIn.order("take_all", ["name": account])
            try await rig.standIn.order("flush")
            try await rig.wait(payee, for: path, "reason", toBe: "insufficient_funds")
            let id = try #require(path.split(separator: "/").last.map(String.init))
            #expect(try await rig.run("payouts", "retry", id).code == 0)
            try await eventually("the list of payouts is read") {
                try await rig.calls("GET /v1/payouts") > 0 ? true : nil
            }
            #expect(try await rig.count("payouts") == 1)
            #expect(try await rig.wire().get(path, token: payee).string("status") == "processing")
        }
    }

    @Test("A new payee's withdrawal waits until the operator releases it")
    func released() async throws {
        try await FundingRig.with(more: ["PAYOUT_FIRST_SALES": "10"]) { rig in
            let payee = try await rig.wire().login("payee")
            _ = try await rig.onboard(payee)
            try await rig.standIn.order("fund", ["amount": .integer(50_000)])
            let path = try await rig.withdraw(payee, cents: 4_000, key: "a")
            let waiting = try await rig.wire().get(path, token: payee)
            #expect(waiting.string("reason") == "waiting_for_release", "\(waiting.text)")
            let list = try await rig.run("payouts", "list", "--held")
            #expect(list.text.contains("waiting_for_release"), "\(list.text)")
            let payees = try await rig.run("payees", "list")
            #expect(payees.text.contains("\tACTIVE\tnew\tacct_"), "\(payees.text)")
            let released = try await rig.run("payouts", "release", "payee@shop.example")
            #expect(released.code == 0 && released.text.contains("1 waiting"), "\(released.text)")
            try await rig.waitForPayouts(1)
            #expect(try await rig.run("payees", "list").text.contains("\treleased\t"))
        }
    }

    @Test("An operator can forgive a part of a debt, and set and reset the house's take")
    func terms() async throws {
        try await FundingRig.with { rig in
            let wire = await rig.wire()
            let (payer, payee) = (try await wire.login("payer"), try await wire.login("payee"))
            #expect(try await rig.run("payees", "take", "payee@shop.example", "5001").code == 64)
            #expect(try await rig.run("payees", "take", "payee@shop.example", "2000").code == 0)
            let made = try await rig.deposit(payer, cents: 2_000, key: "a", hosted: false)
            let name = ControlValue.text(try await rig.object(of: made))
            try await rig.standIn.order("pay", ["name": name])
            try await rig.waitForBalance(payer, 12_000)
            let sid = try await wire.lockedSession(payee, payer, cents: 11_000)
            let sent = try await wire.send(sid, by: payer, key: FundingRig.named("k"))
            #expect(sent.status == 200)
            #expect(try await wire.balance(payee) == 18_800)
            let usual = try await rig.run("payees", "take", "payee@shop.example", "usual")
            #expect(usual.code == 0 && usual.text.contains("the usual part"), "\(usual.text)")
            try await rig.standIn.order("refund", ["name": name])
            try await rig.waitForBalance(payer, 0)
            let most = try await rig.run("payees", "forgive", "payer@shop.example", "10.01")
            #expect(most.code == 1, "\(most.text)")
            let part = try await rig.run("payees", "forgive", "payer@shop.example", "4.00")
            #expect(part.code == 0 && part.text.contains("still owes 6.00"), "\(part.text)")
        }
    }
}
