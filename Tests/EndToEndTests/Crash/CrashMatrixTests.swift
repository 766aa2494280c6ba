import Foundation
import GotchuAPI
import GotchuCore
import TestSupport
import Testing

/// Tests that kill programs at two steps of one sale, for every pair of steps. Each pair has its
/// own request and payment. A call without an answer is repeated.
@Suite("Payments while programs are killed at any step")
struct CrashMatrixTests {
    /// The number of pairs that are tested at the same time. It may exceed the number of cores,
    /// because the programs mostly wait.
    private static let lanes = 6

    @Test("A payment is charged once despite kills at any two steps, and both sides report it")
    func pairs() async throws {
        let steps = CrashStep.allCases
        let pairs = steps.indices.flatMap { first in
            steps[(first + 1)...].map { [steps[first], $0] }
        }
        #expect(pairs.count == 120)
        // To test a single pair, set GOTCHU_CRASH_STEPS=requestUnrecorded,paidRecorded.
        try await runInLanes(CrashStep.chosen().map { [$0] } ?? pairs)
    }

    @Test("A half-written journal record is ignored at the next start; the payer is charged once")
    func torn() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                let stage = try await CrashStage()
                for text in [JournalText.locking, JournalText.sending, JournalText.paid] {
                    try stage.payer.faults.plan(["write\t\(text)\ttear"])
                    try await Self.expectOneCharge(stage, amount: 100)
                    #expect(stage.payer.faults.pending.isEmpty)
                    #expect(stage.log(stage.payer).contains("A torn last line"))
                }
            }
            group.addTask {
                let stage = try await CrashStage()
                for text in ["\"state\":\"advertising\"", "\"state\":\"paid\""] {
                    try stage.kiosk.faults.plan(["write\t\(text)\ttear"])
                    try await Self.expectOneCharge(stage, amount: 100)
                    #expect(stage.kiosk.faults.pending.isEmpty)
                    #expect(stage.log(stage.kiosk).contains("A torn last line"))
                }
            }
            try await group.waitForAll()
        }
    }

    private func runInLanes(_ pairs: [[CrashStep]]) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for lane in 0..<Self.lanes {
                let own = pairs.indices.filter { $0 % Self.lanes == lane }
                group.addTask {
                    let stage = try await CrashStage()
                    for index in own {
                        try await Self.expectOneCharge(
                            stage,
                            killing: pairs[index],
                            amount: index + 1
                        )
                    }
                    try await stage.kill(stage.server)
                    try await stage.expectBooksBalance()
                }
            }
            try await group.waitForAll()
        }
    }

    /// Makes a request and a payment while programs are killed at `steps`. Checks that the payer is
    /// charged once, and that both sides report the payment.
    static func expectOneCharge(
        _ stage: CrashStage,
        killing steps: [CrashStep] = [],
        amount: Int
    ) async throws {
        let cents = Int64(amount)
        let tip: Int64? = amount.isMultiple(of: 2) ? 3 : nil
        let total = cents + (tip ?? 0)
        let name = steps.map(\.rawValue).joined(separator: ", ")
        let before = (try await stage.balance(stage.kiosk), try await stage.balance(stage.payer))
        try stage.arm(steps)
        let request: RequestView = try await stage.untilAnswered(
            stage.kiosk,
            "/v1/requests",
            NewRequest(amountCents: cents, allowsTip: tip.map { _ in true }),
            key: IdempotencyKey.random().rawValue
        )
        let payment: PaymentView = try await stage.untilAnswered(
            stage.payer,
            "/v1/payments",
            NewPayment(eid: request.eid, confirmAmountCents: cents, tipCents: tip),
            key: IdempotencyKey.random().rawValue
        )
        let paid: PaymentView = try await stage.until(
            "\(name): the payment ends",
            stage.payer,
            "/v1/payments/\(payment.id)"
        ) { $0.state.isFinal }
        #expect(paid.state == .paid, "\(name): \(paid.code ?? "")")
        let paidRequest: RequestView = try await stage.until(
            "\(name): the kiosk's request ends",
            stage.kiosk,
            "/v1/requests/\(request.id)"
        ) { $0.state.isFinal && !$0.isOnAir }
        #expect(paidRequest.state == .paid && paidRequest.tipCents == tip, "\(name)")
        #expect(paid.tipCents == tip, "\(name)")
        try await stage.expectKills(name)
        let payments: PaymentsReply = try await stage.until(
            "\(name): the payer lists its payments",
            stage.payer,
            "/v1/payments"
        ) { _ in true }
        // A payment whose creation a kill has interrupted is listed as not started.
        let states = payments.payments.filter { $0.sid == request.id }.map(\.state)
        #expect(states.count { $0 == .paid } == 1, "\(name): \(states)")
        #expect(states.allSatisfy { [.paid, .declined].contains($0) }, "\(name): \(states)")
        #expect(try await stage.balance(stage.kiosk) == before.0 + total, "\(name)")
        #expect(try await stage.balance(stage.payer) == before.1 - total, "\(name)")
    }
}
