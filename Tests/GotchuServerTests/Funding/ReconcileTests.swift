import Foundation
import StripeTestSupport
import TestSupport
import Testing

@testable import GotchuServer

/// Tests of `gotchu-server reconcile` and of the differences that it must find.
@Suite("The comparison with Stripe")
struct ReconcileTests {
    /// Makes a deposit with a refund, a failed refund, a won and a lost dispute, and a withdrawal
    /// whose payout is in transit.
    private static func story(_ rig: FundingRig) async throws {
        let payer = try await rig.wire().login("payer")
        let made = try await rig.deposit(payer, cents: 2_000, key: "a")
        try await rig.standIn.order("pay", ["name": .text(try await rig.stripeID(of: made))])
        try await rig.waitForBalance(payer, 12_000)
        let intent = try await rig.last("intents")
        try await rig.standIn.order("refund", ["name": .text(intent), "amount": .integer(500)])
        try await rig.waitForBalance(payer, 11_500)
        let part: [String: ControlValue] = ["name": .text(intent), "amount": .integer(300)]
        let refund = try await rig.standIn.order("refund", part)
        try await rig.waitForBalance(payer, 11_200)
        try await rig.standIn.order("fail_refund", ["name": refund["id"] ?? .null])
        try await rig.waitForBalance(payer, 11_500)
        for (status, balance) in [("won", Int64(11_500)), ("lost", 11_200)] {
            let dispute = try await rig.standIn.order("dispute", part)
            try await rig.waitForBalance(payer, 11_200)
            let end: [String: ControlValue] = [
                "name": dispute["id"] ?? .null, "status": .text(status),
            ]
            try await rig.standIn.order("close", end)
            try await rig.waitForBalance(payer, balance)
        }
        try await rig.standIn.order("fund", ["amount": .integer(50_000)])
        let payee = try await rig.wire().login("payee")
        _ = try await rig.onboard(payee)
        _ = try await rig.wire().post(
            "/api/wallet/withdrawals",
            #"{"amount_cents":4000}"#,
            token: payee,
            key: FundingRig.idempotencyKey("w")
        )
        try await eventually("the payout is known") {
            let list = try await rig.run("payouts", "list").text
            return list.contains("IN_TRANSIT") ? true : nil
        }
    }

    @Test("A correct database has no differences once the platform's own money is booked")
    func right() async throws {
        try await FundingRig.with { rig in
            try await Self.story(rig)
            let before = try await rig.reconcile()
            #expect(before.code == 1 && before.text.contains("topup 500.00 is not booked"))
            #expect(!before.text.contains("adjustment") && !before.text.contains("du_"))
            let booked = try await rig.reconcile("--book")
            #expect(booked.code == 0, "\(booked.text)")
            #expect(booked.text.contains("booked\t") && !booked.text.contains("DIFF"))
            try await rig.standIn.order("set", ["fee_is_late": .boolean(true)])
            let payer = try await rig.wire().login("late")
            let made = try await rig.deposit(payer, cents: 700, key: "b")
            try await rig.standIn.order("pay", ["name": .text(try await rig.stripeID(of: made))])
            try await rig.waitForBalance(payer, 10_700)
            let late = try await rig.reconcile()
            #expect(late.code == 0, "\(late.text)")
        }
    }

    @Test("A change at Stripe that the server has not read yet is noted, but is not a difference")
    func notSeenYet() async throws {
        try await FundingRig.with { rig in
            try await Self.story(rig)
            let before = try await rig.reconcile("--book")
            #expect(before.code == 0 && !before.text.contains("note\t"), "\(before.text)")
            // The server is down here, so it cannot read the changes before the comparison.
            try await rig.kill {
                let part: [String: ControlValue] = [
                    "name": .text(try await rig.last("intents")), "amount": .integer(100),
                ]
                try await rig.standIn.order("refund", part)
                try await rig.movePayout(to: "paid")
                let after = try await rig.reconcile()
                #expect(after.code == 0 && !after.text.contains("DIFF"), "\(after.text)")
                for note in [
                    "refund -1.00 is not booked yet: the server sees it by ",
                    "40.00 is paid, which is not booked yet: the server sees it by ",
                ] { #expect(after.text.contains(note), "\(after.text)") }
                try await rig.standIn.order("lie", ["what": .text("adjust")])
                let lie = try await rig.reconcile()
                #expect(lie.code == 1 && lie.text.contains("adjustment -15.00 is not booked\n"))
                #expect(lie.text.contains("DIFF\t−STRIPE_BALANCE"), "\(lie.text)")
            }
        }
    }

    @Test("Money of a held deposit is a difference that names it, and a note once it is refunded")
    func held() async throws {
        try await FundingRig.with { rig in
            let payer = try await rig.wire().login("payer")
            let made = try await rig.deposit(payer, cents: 2_000, key: "a", hosted: false)
            let id = made.string("payment_intent_id")
            let paid: [String: ControlValue] = [
                "name": .text(try await rig.stripeID(of: made)), "amount": .integer(1_850),
                "currency": .text("eur"),
            ]
            try await rig.standIn.order("pay", paid)
            try await eventually("the deposit is held") {
                try await rig.run("deposits", "list", "--held").text.contains(id) ? true : nil
            }
            let held = try await rig.reconcile()
            let sentence = "charge 18.50 is not booked, and belongs to deposit \(id), which is held"
            #expect(held.code == 1 && held.text.contains("\(sentence): "), "\(held.text)")
            #expect(!held.text.contains("note\t"), "\(held.text)")
            let dropped = try await rig.run("deposits", "drop", id, "--refunded")
            #expect(dropped.code == 0, "\(dropped.text)")
            let kept = try await rig.reconcile()
            #expect(kept.code == 1 && kept.text.contains("not refunded in full"), "\(kept.text)")
            let name = try await rig.stripeID(of: made)
            try await rig.standIn.order("refund", ["name": .text(name)])
            let after = try await rig.reconcile()
            #expect(after.code == 0 && after.text.contains("which was dropped\n"), "\(after.text)")
        }
    }

    @Test("A paid payout whose status the server could not read is a difference until it is booked")
    func unanswered() async throws {
        try await FundingRig.with { rig in
            try await Self.story(rig)
            #expect(try await rig.reconcile("--book").code == 0)
            let look = "GET /v1/payouts/{payout}"
            try await rig.standIn.fault("error", of: look, times: 1_000)
            let before = try await rig.calls(look)
            try await rig.movePayout(to: "paid")
            // When the second call is made, the outcome of the first call is in the database.
            try await eventually("the payout was read twice more") {
                try await rig.calls(look) >= before + 2 ? true : nil
            }
            try await rig.kill {
                let found = try await rig.reconcile()
                #expect(found.code == 1 && !found.text.contains("40.00 is paid"), "\(found.text)")
                let sentence = "DIFF\t−STRIPE_PAYOUTS 40.00, at payees' accounts 0.00"
                #expect(found.text.contains(sentence), "\(found.text)")
                try await rig.standIn.order("clear")
            }
            try await eventually("the payout is booked") {
                try await rig.reconcile().code == 0 ? true : nil
            }
        }
    }

    @Test("Money at a closed account is a difference until its transfer is reversed")
    func closed() async throws {
        try await FundingRig.with { rig in
            let payee = try await rig.wire().login("payee")
            let account = try await rig.onboard(payee)
            try await rig.standIn.order("fund", ["amount": .integer(50_000)])
            try await rig.standIn.fault("error", of: "POST /v1/payouts", times: 1_000)
            let withdrawal = try await rig.withdraw(payee, cents: 4_000, key: "w")
            try await eventually("the money is at the account") {
                let list = try await rig.run("payouts", "list").text
                return list.contains("SENT") ? true : nil
            }
            try await rig.standIn.order("close_account", ["name": .text(account)])
            let found = try await rig.reconcile("--book")
            #expect(found.code == 1 && found.text.contains("note\t\(account) is closed"))
            let sentence = "DIFF\t−STRIPE_PAYOUTS 40.00, at payees' accounts 0.00"
            #expect(found.text.contains(sentence), "\(found.text)")
            try await rig.standIn.order("clear")
            try await rig.wait(payee, for: withdrawal, "status", toBe: "failed")
            let proof = try await rig.reconcile()
            #expect(proof.code == 0, "\(proof.text)")
        }
    }

    @Test("The comparison finds each of six kinds of differences")
    func discrepancies() async throws {
        let discrepancies = [
            ("adjust", "adjustment -15.00 is not booked"), ("charge more", "is booked as"),
            ("forget fee", "is booked as"), ("taken away", "at payees' accounts"),
            ("transfer by hand", "transfer -1.00 is not booked"),
            ("forget charge", "is booked, and Stripe has no such transaction"),
        ]
        try await FundingRig.with { rig in
            try await Self.story(rig)
            var before = try await rig.reconcile("--book")
            #expect(before.code == 0, "\(before.text)")
            for (kind, sentence) in discrepancies {
                try await rig.standIn.order("lie", ["what": .text(kind)])
                let found = try await rig.reconcile()
                let counts = [before, found].map { report in
                    report.text.split(separator: "\n")
                        .count { $0.hasPrefix("DIFF\t") && $0.contains(sentence) }
                }
                #expect(counts[1] > counts[0] && found.code == 1, "\(kind): \(found.text)")
                before = found
            }
        }
    }

    @Test("A paid deposit that the database has lost is adopted")
    func adopted() async throws {
        try await FundingRig.with { rig in
            let payer = try await rig.wire().login("payer")
            let user = try await rig.wire()
                .get("/api/wallet/balance", token: payer).string("user_id")
            try await rig.standIn.order("stray", ["user": .text(user)])
            let lost = try await rig.reconcile()
            #expect(lost.code == 1 && lost.text.contains("charge 9.00 is not booked"))
            let adopted = try await rig.reconcile("--adopt")
            #expect(adopted.code == 0 && adopted.text.contains("adopted\t"), "\(adopted.text)")
            #expect(try await rig.wire().balance(payer) == 10_900)
            #expect(try await rig.reconcile("--adopt").code == 0)
        }
    }

    @Test("A paid deposit of a lost user is adopted for the user whom the operator names")
    func lostUser() async throws {
        try await FundingRig.with { rig in
            let payer = try await rig.wire().login("payer")
            try await rig.standIn.order("stray", ["user": .text("lost-user")])
            let adopted = try await rig.reconcile("--adopt")
            #expect(adopted.code == 1, "\(adopted.text)")
            #expect(adopted.text.contains("--adopt --as lost-user=USER\n"), "\(adopted.text)")
            let known = try await rig.reconcile(
                "--adopt",
                "--as",
                "payer@shop.example=payer@shop.example"
            )
            #expect(known.code == 1 && known.text.contains("know user"), "\(known.text)")
            let named = try await rig.reconcile("--adopt", "--as", "lost-user=payer@shop.example")
            #expect(named.code == 0 && named.text.contains(", not lost-user\n"), "\(named.text)")
            #expect(try await rig.wire().balance(payer) == 10_900)
        }
    }

    @Test("A refused key, another account's key and an absence of Stripe are told apart")
    func reasons() async throws {
        try await FundingRig.with { rig in
            try await eventually("the books belong to an account") {
                try await rig.reconcile().code == 0 ? true : nil
            }
            try await rig.standIn.order("revoke")
            let refused = try await rig.reconcile()
            #expect(refused.code == 78 && refused.text.contains("refuses the key"), "\(refused)")
            try await rig.standIn.order("clear")
            let forbidden: [String: ControlValue] = ["status": .integer(403)]
            try await rig.standIn.fault("no", of: "GET /v1/balance", times: 1, forbidden)
            let limited = try await rig.reconcile()
            #expect(limited.code == 78 && limited.text.contains("A restricted key"), "\(limited)")
            try await rig.standIn.order("away")
            let away = try await rig.reconcile()
            #expect(away.code == 75 && away.text.contains("did not answer"), "\(away)")
            try await rig.standIn.order("clear")
            let other: [String: ControlValue] = [
                "key": .text(FundingRig.key), "account": .text("acct_other"),
            ]
            try await rig.standIn.order("other_key", other)
            let foreign = try await rig.reconcile()
            #expect(foreign.code == 65 && foreign.text.contains("--stripe-key-file"), "\(foreign)")
        }
    }

    @Test("A withdrawal that a restored database has lost is adopted, and not paid again")
    func restored() async throws {
        try await FundingRig.with { rig in
            _ = try await rig.onboard(try await rig.wire().login("owner"))
            // This payee is another shop of the same owner. Its payouts go to the owner's account.
            let payee = try await rig.wire().login("payee")
            let linked = try await rig.run(
                "payees",
                "link",
                "payee@shop.example",
                "--to",
                "owner@shop.example"
            )
            #expect(linked.code == 0, "\(linked.text)")
            try await rig.standIn.order("fund", ["amount": .integer(50_000)])
            #expect(try await rig.reconcile("--book").code == 0)
            let copy = try TemporaryFolder()
            let old = "\(copy.path)/copy.db"
            let backup = try await rig.run("backup", old)
            #expect(backup.code == 0, "\(backup.text)")
            // The withdrawal is made two hours in the past, so its transfer is old when adopted.
            try await rig.standIn.order("advance", ["seconds": .integer(-7_200)])
            let withdrawal = try await rig.withdraw(payee, cents: 4_000, key: "w")
            try await rig.waitForPayouts(1)
            try await rig.standIn.order("advance", ["seconds": .integer(7_200)])
            try await rig.movePayout(to: "paid")
            try await rig.wait(payee, for: withdrawal, "status", toBe: "paid")
            // Before the old database is restored, Stripe forgets the idempotency keys.
            try await rig.standIn.order("advance", ["seconds": .integer(2 * 86_400)])
            let path = try #require(rig.database.sqlitePath)
            try await rig.kill {
                for end in ["", "-wal", "-shm"] {
                    try? FileManager.default.removeItem(atPath: path + end)
                }
                try FileManager.default.copyItem(atPath: old, toPath: path)
            }
            #expect(try await rig.wire().balance(payee) == 10_000)
            let lost = try await rig.reconcile()
            #expect(lost.code == 1 && lost.text.contains("transfer -40.00 is not booked"))
            let adopted = try await rig.reconcile("--adopt")
            #expect(adopted.text.contains("adopted\ttr_"), "\(adopted.text)")
            try await rig.wait(payee, for: withdrawal, "status", toBe: "paid")
            #expect(try await rig.wire().balance(payee) == 6_000)
            for kind in ["transfers", "payouts"] {
                #expect(try await rig.count(kind) == 1, "\(kind)")
            }
            let proved = try await rig.reconcile()
            #expect(proved.code == 0, "\(proved.text)")
        }
    }
}
