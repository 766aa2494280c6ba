import StripeTestSupport
import TestSupport
import Testing

@testable import GotchuServer
@testable import Stripe

/// Tests of what an operator without monitoring reads about deposits and withdrawals.
@Suite("The log of deposits and withdrawals")
struct FundingLogTests {
    private static func report(
        _ call: String,
        _ outcome: StripeOutcomeKind,
        isAnswer: Bool? = true
    ) -> StripeCallReport {
        StripeCallReport(
            call: call,
            outcome: outcome,
            failure: nil,
            isAnswer: isAnswer,
            isReplay: false,
            time: .zero
        )
    }

    @Test("A refused key is logged once, until the refused call itself succeeds")
    func refusedKey() {
        let log = RecordedLog()
        let gate = ProviderGate(log.logger)
        for _ in 0..<3 {
            gate.record(Self.report("transfer.create", .misconfigured))
            gate.record(Self.report("event.list", .done))
        }
        #expect(log.lines.count == 1)
        #expect(log.lines.first?.hasPrefix("warning: Stripe refuses the key") == true)
        #expect(log.lines.first?.contains("call=transfer.create") == true)
        gate.record(Self.report("transfer.create", .done))
        #expect(log.lines.last == "warning: Stripe accepts the key.")
        gate.bind()
        #expect(!gate.isOpen)
    }

    @Test("Three calls in a row without an answer are logged once, and so is the next answer")
    func absence() {
        let log = RecordedLog()
        let gate = ProviderGate(log.logger)
        gate.bind()
        let (lost, done) = (
            Self.report("event.list", .unknown, isAnswer: false), Self.report("event.list", .done)
        )
        for report in [lost, lost, done, lost, lost] { gate.record(report) }
        gate.record(Self.report("event.list", .throttled, isAnswer: nil))
        #expect(log.lines.isEmpty)
        for _ in 0..<4 { gate.record(lost) }
        #expect(log.lines.count == 1)
        #expect(log.lines.first?.hasPrefix("warning: Stripe does not answer") == true)
        for _ in 0..<2 { gate.record(done) }
        #expect(log.lines.dropFirst() == ["warning: Stripe answers again."])
    }

    @Test("Books of an account at Stripe that are served without a key say what waits")
    func unserved() async throws {
        try await FundingRig.with { rig in
            let payer = try await rig.wire().login("payer")
            _ = try await rig.deposit(payer, cents: 2_000, key: "a")
            try await rig.kill {
                let server = try await ServerProcess(database: rig.database.address)
                #expect(try await server.stop() == 0)
                let log = server.program.text
                #expect(log.contains("there is no key"), "\(log)")
                for part in ["account=acct_platform", "deposits=1", "withdrawals=0"] {
                    #expect(log.contains(part), "\(log)")
                }
            }
        }
    }

    @Test("Held, disputed and failed money, an absence of Stripe and a refused key are warnings")
    func warnings() async throws {
        try await FundingRig.with(more: ["LOG_LEVEL": "warning"]) { rig in
            func waitForLog(_ sentence: String) async throws {
                try await eventually("the log says: \(sentence)") {
                    await rig.program.text.contains(sentence) ? true : nil
                }
            }
            let payer = try await rig.wire().login("payer")
            let made = try await rig.deposit(payer, cents: 2_000, key: "a", hosted: false)
            let name = ControlValue.text(try await rig.stripeID(of: made))
            try await rig.standIn.order("pay", ["name": name, "amount": .integer(1_999)])
            try await waitForLog("A deposit waits for you")
            let good = try await rig.deposit(payer, cents: 1_000, key: "b")
            try await rig.standIn.order("pay", ["name": .text(try await rig.stripeID(of: good))])
            try await rig.waitForBalance(payer, 11_000)
            let intent = try await rig.last("intents")
            try await rig.standIn.order("dispute", ["name": .text(intent)])
            try await waitForLog("A deposit is disputed")

            let payee = try await rig.wire().login("payee")
            let account = try await rig.onboard(payee)
            try await rig.standIn.order("fund", ["amount": .integer(50_000)])
            try await rig.standIn.order("close_account", ["name": .text(account)])
            _ = try await rig.withdraw(payee, cents: 2_000, key: "w")
            try await waitForLog("A withdrawal failed")

            func openDeposit(_ key: String) async throws {
                let reply = try await rig.wire().post(
                    "/api/payments/intents",
                    #"{"amount_cents":500,"presentation":"hosted"}"#,
                    token: payer,
                    key: FundingRig.idempotencyKey(key)
                )
                #expect(reply.status == 503, "\(reply.text)")
            }
            // The worker repeats the call for the deposit until it is answered.
            try await rig.standIn.order("away")
            try await openDeposit("c")
            try await waitForLog("Stripe does not answer")
            try await rig.standIn.order("clear")
            try await waitForLog("Stripe answers again.")
            try await rig.standIn.order("revoke")
            try await openDeposit("d")
            try await waitForLog("Stripe refuses the key")
            try await rig.standIn.order("clear")
        }
    }
}
