import Foundation
import StripeTestSupport
import TestSupport
import Testing

@testable import GotchuServer

/// Tests of payees and their withdrawals, with a real server and a stand-in for Stripe.
@Suite("Payees and withdrawals at the stand-in")
struct WithdrawalStoryTests {
    private static let opening: Int64 = 10_000

    @Test(
        "A withdrawal that waits for funds can be cancelled, and a paid one is returned on failure"
    )
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
                key: FundingRig.idempotencyKey("a")
            )
            #expect(poor.status == 202, "\(poor.text)")
            let first = "\(path)/\(poor.string("withdrawal_id"))"
            try await rig.wait(payee, for: first, "reason", toBe: "waiting_for_funds")
            let end = try await rig.wire().post("\(first)/cancel", token: payee)
            #expect(end.string("status") == "cancelled", "\(end.text)")
            // A repeated request changes nothing, and is not counted.
            _ = try await rig.wire().post("\(first)/cancel", token: payee)
            let metric = "gotchu_server_withdrawals_total"
            for status in ["pending", "cancelled"] {
                let count = try await rig.wire().metric(metric, "\"\(status)\"")
                #expect(count == 1, "\(status)")
            }
            try await rig.standIn.order("fund", ["amount": .integer(50_000)])
            let rich = try await rig.wire().post(
                path,
                body,
                token: payee,
                key: FundingRig.idempotencyKey("b")
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

    @Test("The command payouts run pays out each balance of at least the minimum, once")
    func operatorsRun() async throws {
        try await FundingRig.with { rig in
            let none = try await rig.run("payouts", "run")
            #expect(none.code == 0 && none.text.isEmpty, "\(none.text)")
            let payee = try await rig.wire().login("payee")
            _ = try await rig.onboard(payee)
            try await rig.standIn.order("fund", ["amount": .integer(50_000)])
            let poor = try await rig.run("payouts", "pay", "payee@shop.example", "100.01")
            #expect(poor.code == 1 && poor.text.contains("does not hold enough"), "\(poor.text)")
            let small = try await rig.run("payouts", "pay", "payee@shop.example", "0.99")
            #expect(small.code == 1 && small.text.contains("is 1.00."), "\(small.text)")
            let one = try await rig.run("payouts", "pay", "payee@shop.example", "30.00")
            #expect(one.code == 0 && one.text.contains("30.00"), "\(one.text)")
            let most = try await rig.run("payouts", "run", "--minimum", "70.01")
            #expect(most.code == 0 && most.text.isEmpty, "\(most.text)")
            let all = try await rig.run("payouts", "run", "--minimum", "70.00")
            #expect(all.code == 0 && all.text.contains("\t70.00"), "\(all.text)")
            let again = try await rig.run("payouts", "run")
            #expect(again.code == 0 && again.text.isEmpty, "\(again.text)")
            try await eventually("there are two payouts") {
                try await rig.count("payouts") == 2 ? true : nil
            }
            #expect(try await rig.wire().balance(payee) == 0)
        }
    }

    @Test("A payee whom Stripe restricts can neither withdraw nor, if onboarding is required, sell")
    func restricted() async throws {
        try await FundingRig.with(more: ["REQUIRE_ONBOARDING": "true"]) { rig in
            let wire = await rig.wire()
            let payee = try await wire.login("payee")
            let early = try await wire.create(payee, cents: 100)
            #expect(early.status == 409 && early.code == "PAYEE_NOT_ONBOARDED", "\(early.text)")
            let account = ControlValue.text(try await rig.onboard(payee))
            #expect(try await wire.create(payee, cents: 100).status == 200)
            try await rig.standIn.order("restrict", ["name": account])
            try await rig.wait(payee, for: "/api/connect/status", "status", toBe: "RESTRICTED")
            let status = try await wire.get("/api/connect/status", token: payee)
            #expect(status.text.contains("individual.verification.document"), "\(status.text)")
            #expect(status.string("disabled_reason") == "requirements.past_due")
            let refused = try await wire.post(
                "/api/wallet/withdrawals",
                #"{"amount_cents":100}"#,
                token: payee,
                key: FundingRig.idempotencyKey("w")
            )
            #expect(refused.status == 409 && refused.code == "PAYEE_NOT_ONBOARDED")
            #expect(try await wire.create(payee, cents: 100).code == "PAYEE_NOT_ONBOARDED")
            // A restricted payee continues with the same account.
            #expect(try await wire.post("/api/connect/links", token: payee).status == 200)
            try await rig.standIn.order("onboard", ["name": account])
            try await rig.wait(payee, for: "/api/connect/status", "status", toBe: "ACTIVE")
            #expect(try await rig.count("accounts") == 1)
        }
    }

    @Test("One of eight simultaneous withdrawals of more than half a balance is accepted")
    func twice() async throws {
        try await FundingRig.with { rig in
            let wire = await rig.wire()
            let payee = try await wire.login("payee")
            _ = try await rig.onboard(payee)
            try await rig.standIn.order("fund", ["amount": .integer(50_000)])
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<8 {
                    group.addTask {
                        try await wire.post(
                            "/api/wallet/withdrawals",
                            #"{"amount_cents":6000}"#,
                            token: payee,
                            key: FundingRig.idempotencyKey("w\(number)")
                        ).status
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses.count { $0 == 202 } == 1, "\(statuses)")
            #expect(statuses.allSatisfy { [202, 402].contains($0) }, "\(statuses)")
            try await rig.waitForPayouts(1)
            #expect(try await wire.balance(payee) == 4_000)
        }
    }

    @Test("A server that is stopped just after an order leaves no withdrawal leased")
    func stopped() async throws {
        try await FundingRig.with { rig in
            let payee = try await rig.wire().login("payee")
            _ = try await rig.onboard(payee)
            try await rig.standIn.order("fund", ["amount": .integer(50_000)])
            for number in 0..<3 {
                _ = try await rig.withdraw(payee, cents: 1_000, key: "w\(number)")
                await rig.program.signal(SIGTERM)
                try await rig.restart {
                    let query = "SELECT record FROM due WHERE leased_until IS NOT NULL"
                    let leased = try rig.database.rows(1, query)
                    #expect(leased == [])
                }
            }
            try await rig.waitForPayouts(3)
        }
    }

    @Test("A device without the right to withdraw can neither withdraw nor see or set up payouts")
    func till() async throws {
        try await FundingRig.with { rig in
            let wire = await rig.wire()
            let payee = try await wire.login("payee")
            _ = try await rig.onboard(payee)
            let devices: [(name: String, right: String?, status: Int)] = [
                ("till", nil, 403), ("office", "--may-withdraw", 202),
            ]
            for (name, right, status) in devices {
                let flags = [right].compactMap(\.self)
                let code = try await rig.runSecretly(
                    ["devices", "add", name, "--user", "payee@shop.example"] + flags
                )
                let credential = try #require(
                    code.text.split(separator: "\n").first { $0.hasPrefix("gotchu-device.") }
                )
                let reply = try await wire.post(
                    "/auth/token",
                    #"{"refresh_token":"\#(credential)"}"#
                )
                let token = reply.string("access_token")
                let made = try await wire.post(
                    "/api/wallet/withdrawals",
                    #"{"amount_cents":100}"#,
                    token: token,
                    key: FundingRig.idempotencyKey(name)
                )
                #expect(made.status == status, "\(name): \(made.text)")
                let link = try await wire.post("/api/connect/links", token: token)
                let state = try await wire.get("/api/connect/status", token: token)
                let isAllowed = right != nil
                #expect((link.status == 200) == isAllowed && (state.status == 200) == isAllowed)
            }
        }
    }
}
