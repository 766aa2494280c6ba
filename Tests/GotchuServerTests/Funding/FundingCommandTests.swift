import StripeTestSupport
import TestSupport
import Testing

@testable import GotchuServer

/// Tests of the operator's commands for deposits, payees and payouts.
@Suite("The operator's commands for deposits, payees and payouts")
struct FundingCommandTests {
    @Test("A deposit paid with a wrong amount is held, and can be accepted but not dropped")
    func accept() async throws {
        try await FundingRig.with { rig in
            let payer = try await rig.wire().login("payer")
            let made = try await rig.deposit(payer, cents: 2_000, key: "a", hosted: false)
            let name = ControlValue.text(try await rig.stripeID(of: made))
            try await rig.standIn.order("pay", ["name": name, "amount": .integer(1_999)])
            let id = made.string("payment_intent_id")
            try await eventually("the deposit is held") {
                let list = try await rig.run("deposits", "list", "--held").text
                return list.contains("\(id)\t") && list.contains("\t20.00\t19.99\t") ? true : nil
            }
            let dropped = try await rig.run("deposits", "drop", id)
            #expect(dropped.code == 1 && dropped.text.contains("accept \(id)"), "\(dropped.text)")
            let accepted = try await rig.run("deposits", "accept", id)
            #expect(accepted.code == 0, "\(accepted.text)")
            try await rig.waitForBalance(payer, 11_999)
            #expect(try await rig.run("deposits", "list", "--held").text.isEmpty)
            let again = try await rig.run("deposits", "accept", id)
            #expect(again.code == 1 && again.text.contains("is SUCCEEDED"), "\(again.text)")
        }
    }

    @Test("A deposit whose money cannot be booked is dropped only if the operator has refunded it")
    func drop() async throws {
        try await FundingRig.with { rig in
            let payer = try await rig.wire().login("payer")
            let made = try await rig.deposit(payer, cents: 2_000, key: "a", hosted: false)
            let paid: [String: ControlValue] = [
                "name": .text(try await rig.stripeID(of: made)), "amount": .integer(1_850),
                "currency": .text("eur"),
            ]
            try await rig.standIn.order("pay", paid)
            let id = made.string("payment_intent_id")
            try await eventually("the deposit is held") {
                let list = try await rig.run("deposits", "list", "--held").text
                return list.contains("\t20.00\t18.50 eur\t") ? true : nil
            }
            for decision in ["accept", "drop"] {
                let refused = try await rig.run("deposits", decision, id)
                #expect(refused.code == 1 && refused.text.contains("drop \(id) --refunded"))
            }
            #expect(try await rig.run("deposits", "drop", id, "--refunded").code == 0)
            let path = "/api/payments/intents/\(id)"
            try await rig.wait(payer, for: path, "status", toBe: "CANCELED")
        }
    }

    @Test("A held deposit is counted by a server that has just started without Stripe")
    func heldAtStart() async throws {
        try await FundingRig.with { rig in
            func waitForCount(_ expected: Double) async throws {
                try await eventually("\(expected) deposits are held") {
                    let held = try await rig.wire().metric("gotchu_server_funding_held")
                    return held == expected ? true : nil
                }
            }
            let payer = try await rig.wire().login("payer")
            let made = try await rig.deposit(payer, cents: 2_000, key: "a", hosted: false)
            let name = ControlValue.text(try await rig.stripeID(of: made))
            try await rig.standIn.order("pay", ["name": name, "amount": .integer(1_999)])
            try await waitForCount(1)
            try await rig.standIn.order("away")
            try await rig.kill()
            try await waitForCount(1)
            try await rig.standIn.order("clear")
            let id = made.string("payment_intent_id")
            #expect(try await rig.run("deposits", "accept", id).code == 0)
            try await waitForCount(0)
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
            let most = try await rig.run(
                "deposits",
                "limit",
                "payer@shop.example",
                "--most",
                "1000000.01"
            )
            #expect(most.code == 64 && most.text.contains("1000000.00"), "\(most.text)")
            #expect(try await rig.deposit(payer, cents: 1_500, key: "b").status == 200)
            let usual = try await rig.run("deposits", "limit", "payer@shop.example")
            #expect(usual.code == 0 && usual.text.contains("the usual"), "\(usual.text)")
            #expect(try await rig.deposit(payer, cents: 1_500, key: "c").status == 409)
        }
    }

    @Test(
        "A withdrawal whose transfer cannot be reversed is held until it is retried or returned"
    )
    func held() async throws {
        try await FundingRig.with { rig in
            let payee = try await rig.wire().login("payee")
            let account = ControlValue.text(try await rig.onboard(payee))
            try await rig.standIn.order("fund", ["amount": .integer(50_000)])
            var paths: [String] = []
            for cents in [4_000, 3_000] {
                paths.append(try await rig.withdraw(payee, cents: cents, key: "\(cents)"))
                try await rig.waitForPayouts(paths.count)
            }
            // The account owes as much as comes back from the bank, so no transfer can be reversed.
            try await rig.standIn.order("give", ["name": account, "amount": .integer(-7_000)])
            for payout in try await rig.standIn.state()["payouts"]?.list ?? [] {
                let name = payout["id"] ?? .null
                let failure: [String: ControlValue] = ["name": name, "status": .text("failed")]
                try await rig.standIn.order("move_payout", failure)
            }
            for path in paths {
                try await rig.wait(payee, for: path, "reason", toBe: "insufficient_funds")
            }
            #expect(try await rig.wire().balance(payee) == 3_000)
            let list = try await rig.run("payouts", "list", "--held").text
            let ids = paths.compactMap { $0.split(separator: "/").last.map(String.init) }
            #expect(ids.count == 2 && ids.allSatisfy { list.contains("\($0)\t") }, "\(list)")
            let (retried, returned) = (ids[0], ids[1])
            // The retry first searches for an existing payout, and creates none while it searches.
            #expect(try await rig.run("payouts", "retry", retried).code == 0)
            try await Self.waitForLists(1, rig)
            // This repeated event causes another refresh, which begins after the end of the first.
            let events = try await rig.standIn.state()["events"]?.list ?? []
            let event = try #require(events.first { $0["type"]?.text == "payout.failed" })
            try await rig.standIn.order("send", ["event": event])
            try await Self.waitForLists(2, rig)
            #expect(try await rig.calls("POST /v1/payouts") == 2)
            let open = try await rig.wire().get(paths[0], token: payee)
            #expect(open.string("status") == "processing", "\(open.text)")
            try await rig.standIn.order("give", ["name": account, "amount": .integer(3_000)])
            let ordered = try await rig.run("payouts", "return", returned)
            #expect(ordered.code == 0, "\(ordered.text)")
            try await rig.wait(payee, for: paths[1], "status", toBe: "failed")
            #expect(try await rig.wire().balance(payee) == 6_000)
            let ended = try await rig.run("payouts", "retry", returned)
            #expect(ended.code == 1 && ended.text.contains("has ended."), "\(ended.text)")
        }
    }

    /// Waits until the server has read this many lists of payouts.
    private static func waitForLists(_ count: Int, _ rig: FundingRig) async throws {
        try await eventually("\(count) lists of payouts are read") {
            try await rig.calls("GET /v1/payouts") >= count ? true : nil
        }
    }

    /// Deposits $20.00 for a payer, who then pays a payee.
    ///
    /// - Returns: The deposit's name at the provider.
    private static func spentDeposit(
        _ rig: FundingRig,
        by payer: String,
        to payee: String,
        cents: Int
    ) async throws -> ControlValue {
        let wire = await rig.wire()
        let made = try await rig.deposit(payer, cents: 2_000, key: "a", hosted: false)
        let name = ControlValue.text(try await rig.stripeID(of: made))
        try await rig.standIn.order("pay", ["name": name])
        try await rig.waitForBalance(payer, 12_000)
        let sid = try await wire.lockedSession(payee, payer, cents: cents)
        let sent = try await wire.send(sid, by: payer, key: FundingRig.idempotencyKey("k"))
        #expect(sent.status == 200)
        return name
    }

    @Test("An operator can forgive a part of a debt, and set and reset the house's take")
    func terms() async throws {
        try await FundingRig.with { rig in
            let wire = await rig.wire()
            let (payer, payee) = (try await wire.login("payer"), try await wire.login("payee"))
            #expect(try await rig.run("payees", "take", "payee@shop.example", "5001").code == 64)
            #expect(try await rig.run("payees", "take", "payee@shop.example", "2000").code == 0)
            let name = try await Self.spentDeposit(rig, by: payer, to: payee, cents: 11_000)
            #expect(try await wire.balance(payee) == 18_800)
            let usual = try await rig.run("payees", "take", "payee@shop.example", "usual")
            #expect(usual.code == 0 && usual.text.contains("the usual part"), "\(usual.text)")
            try await rig.standIn.order("refund", ["name": name])
            try await rig.waitForBalance(payer, 0)
            let debts = try await rig.run("payees", "list")
            #expect(debts.text.hasSuffix("\t-\t-\t-\t-\t10.00\n"), "\(debts.text)")
            #expect(debts.text.count { $0 == "\n" } == 1, "\(debts.text)")
            let most = try await rig.run("payees", "forgive", "payer@shop.example", "10.01")
            #expect(most.code == 1 && most.text.contains("owes 10.00, less"), "\(most.text)")
            let none = try await rig.run("payees", "forgive", "payee@shop.example", "1.00")
            #expect(none.code == 1 && none.text.contains("owes nothing."), "\(none.text)")
            let part = try await rig.run("payees", "forgive", "payer@shop.example", "4.00")
            #expect(part.code == 0 && part.text.contains("still owes 6.00"), "\(part.text)")
        }
    }

    @Test("A debt is not forgiven while its dispute is open, and is forgiven once that is lost")
    func dispute() async throws {
        try await FundingRig.with { rig in
            let wire = await rig.wire()
            let (payer, payee) = (try await wire.login("payer"), try await wire.login("payee"))
            let name = try await Self.spentDeposit(rig, by: payer, to: payee, cents: 11_500)
            let dispute = try await rig.standIn.order("dispute", ["name": name])
            try await rig.waitForBalance(payer, 0)
            let early = try await rig.run("payees", "forgive", "payer@shop.example", "15.00")
            #expect(early.code == 1 && early.text.contains("is disputed"), "\(early.text)")
            let lost: [String: ControlValue] = [
                "name": dispute["id"] ?? .null, "status": .text("lost"),
            ]
            try await rig.standIn.order("close", lost)
            try await eventually("the lost dispute's debt is forgiven") {
                try await rig.run("payees", "forgive", "payer@shop.example", "15.00").code == 0
                    ? true : nil
            }
        }
    }
}
