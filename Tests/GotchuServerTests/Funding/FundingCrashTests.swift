import StripeTestSupport
import TestSupport
import Testing

@testable import GotchuServer

/// Tests of a server that is killed just before or after a call to Stripe, and restarted on its
/// database.
@Suite("Crashes around calls to Stripe")
struct FundingCrashTests {
    /// The calls of one scenario: a deposit is paid, a payee is set up, and the payout of a
    /// withdrawal fails at the bank and is reversed.
    private static let calls = [
        "POST /v1/checkout/sessions", "GET /v1/checkout/sessions/{session}",
        "POST /v1/accounts", "POST /v1/transfers", "POST /v1/payouts",
        "POST /v1/transfers/{id}/reversals",
    ]

    struct Moment: Sendable, CustomTestStringConvertible {
        let call: String
        let fault: String
        let kind: DatabaseKind

        var testDescription: String { "\(fault) \(call), \(kind)" }
    }

    static let moments = DatabaseKind.single.flatMap { kind in
        calls.flatMap { call in
            ["kill before", "kill after"].map { Moment(call: call, fault: $0, kind: kind) }
        }
    }

    @Test(
        "A server that is killed before or after a call to Stripe creates each object there once",
        arguments: moments
    )
    func killed(at moment: Moment) async throws {
        try await FundingRig.with(moment.kind) { rig in
            let (payer, payee) = (
                try await rig.wire().login("payer"), try await rig.wire().login("payee")
            )
            try await rig.standIn.order("fund", ["amount": .integer(50_000)])
            try await rig.standIn.fault(
                moment.fault,
                of: moment.call,
                ["pid": .integer(Int64(await rig.processID))]
            )
            let made = try await rig.deposit(payer, cents: 2_000, key: "d")
            let name = ControlValue.text(try await rig.stripeID(of: made))
            try await rig.standIn.order("pay", ["name": name])
            let intent = "/api/payments/intents/" + made.string("payment_intent_id")
            try await rig.wait(payer, for: intent, "status", toBe: "SUCCEEDED")
            #expect(try await rig.wire().balance(payer) == 12_000)
            _ = try await rig.onboard(payee)
            let withdrawal = try await rig.withdraw(payee, cents: 4_000, key: "w")
            try await rig.waitForPayouts(1)
            try await rig.movePayout(to: "failed")
            try await rig.wait(payee, for: withdrawal, "status", toBe: "failed")
            #expect(try await rig.wire().balance(payee) == 10_000)
            for kind in ["sessions", "intents", "accounts", "transfers", "payouts"] {
                #expect(try await rig.count(kind) == 1, "\(kind)")
            }
            let transfers = try await rig.standIn.state()["transfers"]?.list
            #expect(transfers?.first?["amount_reversed"]?.integer == 4_000)
            #expect(await rig.restarts == 1, "the server was not killed once")
        }
    }
}
