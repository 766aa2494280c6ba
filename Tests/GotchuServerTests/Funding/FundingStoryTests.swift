import Glibc
import GotchuCore
import StripeTestSupport
import TestSupport
import Testing

@testable import GotchuServer

/// Deposits and payouts as payers, payees and the operator see them, with a real server and the
/// stand-in.
@Suite("Deposits and payouts at the stand-in", .timeLimit(.minutes(hangLimit)))
struct FundingStoryTests {
    private static let opening: Int64 = 10_000

    @Test(
        "A deposit is credited once, however its webhooks come",
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
                let object = try await rig.object(of: made)
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
        "One key, sent by twenty at once and again later, is one deposit; with another amount none"
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

    @Test("A declined card leaves the deposit open; another card pays it, once")
    func declined() async throws {
        try await FundingRig.with { rig in
            let payer = try await rig.wire().login("payer")
            let made = try await rig.deposit(payer, cents: 2_000, key: "a", hosted: false)
            let path = "/api/payments/intents/" + made.string("payment_intent_id")
            let name = ControlValue.text(try await rig.object(of: made))
            try await rig.standIn.order("decline", ["name": name])
            try await eventually("the payer sees it") {
                let reply = try await rig.wire().get(path, token: payer)
                let error = reply.members["last_error"] as? [String: Any]
                return error?["code"] as? String == "generic_decline" ? true : nil
            }
            try await rig.standIn.order("pay", ["name": name])
            try await rig.waitForBalance(payer, Self.opening + 2_000)
            try await rig.wait(payer, for: path, "status", toBe: "SUCCEEDED")
        }
    }

    @Test(
        "A cancelled deposit cannot be paid, and one that was paid first is credited all the same"
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
            let name = ControlValue.text(try await rig.object(of: second))
            try await rig.standIn.order("pay", ["name": name])
            let late = try await rig.wire().post(
                path + second.string("payment_intent_id") + "/cancel",
                token: payer
            )
            #expect(late.status == 409 && late.code == "INTENT_SETTLED", "\(late.text)")
            try await rig.waitForBalance(payer, Self.opening + 700)
        }
    }

    @Test("A refund of spent money is owed, settled by the next deposit; one that fails comes back")
    func refund() async throws {
        try await FundingRig.with { rig in
            let payer = try await rig.wire().login("payer")
            let payee = try await rig.wire().login("payee")
            let made = try await rig.deposit(payer, cents: 2_000, key: "a", hosted: false)
            let name = ControlValue.text(try await rig.object(of: made))
            try await rig.standIn.order("pay", ["name": name])
            try await rig.waitForBalance(payer, Self.opening + 2_000)
            let sid = try await rig.wire().lockedSession(payee, payer, cents: 11_500)
            #expect(
                try await rig.wire().send(sid, by: payer, key: FundingRig.named("k")).status == 200
            )
            let refund = try await rig.standIn.order("refund", ["name": name])
            try await rig.waitForBalance(payer, 0)
            let second = try await rig.deposit(payer, cents: 2_000, key: "b", hosted: false)
            let other = ControlValue.text(try await rig.object(of: second))
            try await rig.standIn.order("pay", ["name": other])
            try await rig.waitForBalance(payer, 500)
            try await rig.standIn.order("fail_refund", ["name": refund["id"] ?? .null])
            try await rig.waitForBalance(payer, 2_500)
        }
    }

    @Test(
        "A dispute takes the money and the fee; one that is won brings it back; an inquiry nothing"
    )
    func dispute() async throws {
        try await FundingRig.with { rig in
            let payer = try await rig.wire().login("payer")
            try await rig.standIn.order("set", ["fee_is_late": .boolean(true)])
            let made = try await rig.deposit(payer, cents: 2_000, key: "a", hosted: false)
            let name = ControlValue.text(try await rig.object(of: made))
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

    @Test("A payment of another amount is held and books nothing")
    func wrongAmount() async throws {
        try await FundingRig.with { rig in
            let payer = try await rig.wire().login("payer")
            let made = try await rig.deposit(payer, cents: 2_000, key: "a", hosted: false)
            let name = ControlValue.text(try await rig.object(of: made))
            try await rig.standIn.order("pay", ["name": name, "amount": .integer(1_999)])
            let path = "/api/payments/intents/" + made.string("payment_intent_id")
            try await rig.wait(payer, for: path, "status", toBe: "PROCESSING")
            #expect(try await rig.wire().balance(payer) == Self.opening)
        }
    }

    @Test("A withdrawal waits for funds, is paid out, and comes back when the bank refuses it")
    func withdrawal() async throws {
        try await FundingRig.with { rig in
            let payee = try await rig.wire().login("payee")
            _ = try await rig.onboard(payee)
            let body = #"{"amount_cents":4000}"#
            let path = "/api/wallet/withdrawals"
            let poor = try await rig.wire().post(
                path,
                body,
                token: payee,
                key: FundingRig.named("a")
            )
            #expect(poor.status == 202, "\(poor.text)")
            let first = "\(path)/\(poor.string("withdrawal_id"))"
            try await rig.wait(payee, for: first, "reason", toBe: "waiting_for_funds")
            let end = try await rig.wire().post("\(first)/cancel", token: payee)
            #expect(end.string("status") == "cancelled", "\(end.text)")
            try await rig.standIn.order("fund", ["amount": .integer(50_000)])
            let rich = try await rig.wire().post(
                path,
                body,
                token: payee,
                key: FundingRig.named("b")
            )
            let second = "\(path)/\(rich.string("withdrawal_id"))"
            try await eventually("there is a payout") {
                try await rig.count("payouts") == 1 ? true : nil
            }
            let name = ControlValue.text(try await rig.last("payouts"))
            try await rig.standIn.order(
                "move_payout",
                ["name": name, "status": .text("paid")]
            )
            try await rig.wait(payee, for: second, "status", toBe: "paid")
            #expect(try await rig.wire().balance(payee) == Self.opening - 4_000)
            try await rig.standIn.order(
                "move_payout",
                ["name": name, "status": .text("failed")]
            )
            try await rig.wait(payee, for: second, "status", toBe: "failed")
            #expect(try await rig.wire().balance(payee) == Self.opening)
        }
    }

    @Test("The operator pays every payee out, and a second run at once finds nothing more")
    func operatorsRun() async throws {
        try await FundingRig.with { rig in
            let none = try await rig.run("payouts", "run")
            #expect(none.code == 0 && none.text.isEmpty, "\(none.text)")
            let payee = try await rig.wire().login("payee")
            _ = try await rig.onboard(payee)
            try await rig.standIn.order("fund", ["amount": .integer(50_000)])
            let poor = try await rig.run("payouts", "pay", "payee@shop.example", "100.01")
            #expect(poor.code == 1 && poor.text.contains("does not hold enough"), "\(poor.text)")
            let one = try await rig.run("payouts", "pay", "payee@shop.example", "30.00")
            #expect(one.code == 0 && one.text.contains("30.00"), "\(one.text)")
            let most = try await rig.run("payouts", "run", "--minimum", "70.01")
            #expect(most.code == 0 && most.text.isEmpty, "\(most.text)")
            let all = try await rig.run("payouts", "run", "--minimum", "70.00")
            #expect(all.code == 0 && all.text.contains("\t70.00"), "\(all.text)")
            let again = try await rig.run("payouts", "run")
            #expect(again.code == 0 && again.text.isEmpty, "\(again.text)")
            try await eventually("both are on their way") {
                try await rig.count("payouts") == 2 ? true : nil
            }
            #expect(try await rig.wire().balance(payee) == 0)
        }
    }

    @Test("A withdrawal whose money cannot be taken back is held for the operator")
    func reversalRefused() async throws {
        try await FundingRig.with { rig in
            let payee = try await rig.wire().login("payee")
            let account = try await rig.onboard(payee)
            try await rig.standIn.order("fund", ["amount": .integer(50_000)])
            let made = try await rig.wire().post(
                "/api/wallet/withdrawals",
                #"{"amount_cents":4000}"#,
                token: payee,
                key: FundingRig.named("a")
            )
            try await eventually("there is a payout") {
                try await rig.count("payouts") == 1 ? true : nil
            }
            try await rig.standIn.order("webhooks", ["mode": .text("late")])
            let failed: [String: ControlValue] = [
                "name": .text(try await rig.last("payouts")), "status": .text("failed"),
            ]
            try await rig.standIn.order("move_payout", failed)
            try await rig.standIn.order("take_all", ["name": .text(account)])
            try await rig.standIn.order("flush")
            let path = "/api/wallet/withdrawals/" + made.string("withdrawal_id")
            try await rig.wait(payee, for: path, "reason", toBe: "insufficient_funds")
            #expect(try await rig.wire().balance(payee) == Self.opening - 4_000)
        }
    }

    @Test("Payments go on while Stripe is away, and deposits wait; later both are right")
    func away() async throws {
        try await FundingRig.with { rig in
            let payer = try await rig.wire().login("payer")
            let payee = try await rig.wire().login("payee")
            try await rig.standIn.order("away")
            let body = #"{"amount_cents":2000,"presentation":"hosted"}"#
            let refused = try await rig.wire().post(
                "/api/payments/intents",
                body,
                token: payer,
                key: FundingRig.named("a")
            )
            #expect(refused.status == 503 && refused.code == "PROVIDER_UNAVAILABLE")
            for number in 0..<20 {
                let sid = try await rig.wire().lockedSession(payee, payer, cents: 100)
                let sent = try await rig.wire().send(
                    sid,
                    by: payer,
                    key: FundingRig.named("k\(number)")
                )
                #expect(sent.status == 200)
            }
            #expect(try await rig.wire().metric("gotchu_server_stripe_up") == 0)
            try await rig.standIn.order("clear")
            let made = try await rig.deposit(payer, cents: 2_000, key: "a")
            #expect(made.status == 200 && made.headers["idempotent-replayed"] == "true")
            #expect(try await rig.count("sessions") == 1)
        }
    }

    @Test("A key of another account ends the server, and one of the books' own does not")
    func otherAccount() async throws {
        try await FundingRig.with { rig in
            try await eventually("the books are bound") {
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
            try await rig.standIn.order(
                "other_key",
                ["key": .text(FundingRig.key), "account": .text("acct_platform")]
            )
            try await rig.restart()
        }
    }

    @Test("Two servers get every webhook, and each deposit is credited once")
    func twoServers() async throws {
        try await FundingRig.with(.postgresql, servers: 2) { rig in
            let payer = try await rig.wire().login("payer")
            for number in 0..<3 {
                let made = try await rig.deposit(payer, cents: 1_000, key: "k\(number)")
                let name = ControlValue.text(try await rig.object(of: made))
                try await rig.standIn.order("pay", ["name": name])
            }
            try await rig.waitForBalance(payer, Self.opening + 3_000)
            let payee = try await rig.wire(1).login("payee")
            _ = try await rig.onboard(payee)
            try await rig.standIn.order("fund", ["amount": .integer(50_000)])
            for number in 0..<3 {
                _ = try await rig.wire(number).post(
                    "/api/wallet/withdrawals",
                    #"{"amount_cents":1000}"#,
                    token: payee,
                    key: FundingRig.named("w\(number)")
                )
            }
            try await eventually("all is on its way") {
                try await rig.count("payouts") == 3 ? true : nil
            }
            #expect(try await rig.count("transfers") == 3)
            #expect(try await rig.wire(1).balance(payee) == Self.opening - 3_000)
        }
    }
}
