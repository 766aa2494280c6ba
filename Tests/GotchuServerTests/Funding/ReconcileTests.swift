import StripeTestSupport
import TestSupport
import Testing

@testable import GotchuServer

/// `gotchu-server reconcile`, and the lies that it must find.
@Suite("The comparison with Stripe", .timeLimit(.minutes(hangLimit)))
struct ReconcileTests {
    /// A deposit, one with a late fee, a refund, and a withdrawal on its way.
    private static func story(_ rig: FundingRig) async throws {
        let payer = try await rig.wire().login("payer")
        let made = try await rig.deposit(payer, cents: 2_000, key: "a")
        try await rig.standIn.order("pay", ["name": .text(try await rig.object(of: made))])
        try await rig.waitForBalance(payer, 12_000)
        let intent = try await rig.last("intents")
        try await rig.standIn.order("refund", ["name": .text(intent), "amount": .integer(500)])
        try await rig.waitForBalance(payer, 11_500)
        try await rig.standIn.order("fund", ["amount": .integer(50_000)])
        let payee = try await rig.wire().login("payee")
        _ = try await rig.onboard(payee)
        _ = try await rig.wire().post(
            "/api/wallet/withdrawals",
            #"{"amount_cents":4000}"#,
            token: payee,
            key: FundingRig.named("w")
        )
        try await eventually("the payout is known") {
            let list = try await rig.run("payouts", "list").text
            return list.contains("IN_TRANSIT") ? true : nil
        }
    }

    @Test("Books that are right are proved, once the platform's own money is booked")
    func right() async throws {
        try await FundingRig.with { rig in
            try await Self.story(rig)
            let before = try await rig.reconcile()
            #expect(before.code == 1 && before.text.contains("topup 500.00 is not booked"))
            let booked = try await rig.reconcile("--book")
            #expect(booked.code == 0, "\(booked.text)")
            #expect(booked.text.contains("booked\t") && !booked.text.contains("DIFF"))
            try await rig.standIn.order("set", ["fee_is_late": .boolean(true)])
            let payer = try await rig.wire().login("late")
            let made = try await rig.deposit(payer, cents: 700, key: "b")
            try await rig.standIn.order("pay", ["name": .text(try await rig.object(of: made))])
            try await rig.waitForBalance(payer, 10_700)
            let late = try await rig.reconcile()
            #expect(late.code == 0, "\(late.text)")
        }
    }

    @Test(
        "Each of six lies is found",
        arguments: [
            ("adjust", "adjustment -15.00 is not booked"),
            ("forget charge", "is booked, and Stripe has no such transaction"),
            ("charge more", "is booked as"), ("forget fee", "is booked as"),
            ("transfer by hand", "transfer -1.00 is not booked"),
            ("taken away", "at payees' accounts"),
        ]
    )
    func lies(lie: String, sentence: String) async throws {
        try await FundingRig.with { rig in
            try await Self.story(rig)
            #expect(try await rig.reconcile("--book").code == 0)
            try await rig.standIn.order("lie", ["what": .text(lie)])
            let found = try await rig.reconcile()
            #expect(found.code == 1 && found.text.contains("DIFF"), "\(found.text)")
            #expect(found.text.contains(sentence), "\(found.text)")
        }
    }

    @Test("A paid deposit that the books have lost is taken up")
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
}
