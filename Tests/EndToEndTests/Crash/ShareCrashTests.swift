import Foundation
import GotchuAPI
import GotchuCore
import TestSupport
import Testing

/// Tests that kill a program at each step of a payment. The payment is for a share of a bill, or
/// for the entry to a contest at its desk.
@Suite("Payments of shares and contest entries while programs are killed")
struct ShareCrashTests {
    /// The number of steps that are tested at the same time. It may exceed the number of cores,
    /// because the programs mostly wait.
    private static let lanes = 4
    private static let fee: Int64 = 100

    private struct CreatedContest: Decodable {
        let id: String
    }

    /// The purpose of the payment.
    enum Sale: CaseIterable, Sendable {
        /// The last share of a bill. For half of the steps the bill is all-or-nothing.
        case split
        case desk
    }

    @Test(
        "A share or an entry is charged once despite a kill, and both sides report it",
        arguments: Sale.allCases
    )
    func shares(sale: Sale) async throws {
        let steps = CrashStep.allCases
        // To test a single step, set GOTCHU_CRASH_STEPS=lockUnrecorded.
        let chosen = try CrashStep.chosen() ?? steps
        try await withThrowingTaskGroup(of: Void.self) { group in
            for lane in 0..<Self.lanes {
                let own = steps.indices.filter {
                    $0 % Self.lanes == lane && chosen.contains(steps[$0])
                }
                group.addTask {
                    let stage = try await CrashStage()
                    for index in own {
                        switch sale {
                        case .split:
                            try await Self.split(stage, steps[index], isPooled: lane > 1)
                        case .desk: try await Self.desk(stage, steps[index])
                        }
                    }
                    try await stage.kill(stage.server)
                    try await stage.expectBooksBalance()
                }
            }
            try await group.waitForAll()
        }
    }

    /// Pays a share or an entry fee, and checks that the payment ends as paid.
    private static func pay(
        _ stage: CrashStage,
        _ request: RequestView,
        _ name: String
    ) async throws {
        let payment: PaymentView = try await stage.untilAnswered(
            stage.payer,
            "/v1/payments",
            NewPayment(eid: request.eid, confirmAmountCents: fee),
            key: IdempotencyKey.random().rawValue
        )
        let paid: PaymentView = try await stage.until(
            "\(name): the payment ends",
            stage.payer,
            "/v1/payments/\(payment.id)"
        ) { $0.state.isFinal }
        #expect(paid.state == .paid, "\(name): \(paid.code ?? "")")
    }

    private static func opened(_ stage: CrashStage, _ new: NewRequest) async throws -> RequestView {
        try await stage.untilAnswered(
            stage.kiosk,
            "/v1/requests",
            new,
            key: IdempotencyKey.random().rawValue
        )
    }

    /// Waits for a request's end at the kiosk, and for all kills.
    private static func expectEnd(
        _ stage: CrashStage,
        _ request: RequestView,
        _ state: RequestView.State,
        _ name: String
    ) async throws {
        let ended: RequestView = try await stage.until(
            "\(name): the kiosk's request ends",
            stage.kiosk,
            "/v1/requests/\(request.id)"
        ) { $0.state.isFinal && !$0.isOnAir }
        #expect(ended.state == state, "\(name)")
        try await stage.expectKills(name)
    }

    /// Pays the last share of a bill. A friend has paid the first share.
    private static func split(
        _ stage: CrashStage,
        _ step: CrashStep,
        isPooled: Bool
    ) async throws {
        let name = "split, \(step.rawValue)"
        let before = (try await stage.balance(stage.kiosk), try await stage.balance(stage.payer))
        let friend = try await ServerCall.login(stage.url, "friend")
        try stage.arm([step])
        let request = try await opened(
            stage,
            NewRequest(
                amountCents: 2 * fee,
                split: SplitTerms(
                    shares: 2,
                    shareCents: nil,
                    isAllOrNothing: isPooled ? true : nil
                )
            )
        )
        struct Locked: Decodable { let ok: Bool }
        struct Sent: Decodable { let new_balance_cents: Int64 }
        let key = UUID().uuidString
        let body = #"{"sid":"\#(request.id)"}"#
        _ = try await eventually("\(name): the friend pays") {
            try await stage.revive()
            let locked: Locked? = try? await ServerCall.post(
                stage.url,
                "/sessions/lock",
                body,
                token: friend
            )
            guard locked?.ok == true else { return nil as Sent? }
            return try? await ServerCall.post(
                stage.url,
                "/wallet/send",
                body,
                token: friend,
                key: key
            )
        }
        try await pay(stage, request, name)
        try await expectEnd(stage, request, .paid, name)
        #expect(try await stage.balance(stage.kiosk) == before.0 + 2 * fee, "\(name)")
        #expect(try await stage.balance(stage.payer) == before.1 - fee, "\(name)")
    }

    /// Enters a contest at its desk. The organiser then locks the contest, which cancels the desk's
    /// request.
    private static func desk(_ stage: CrashStage, _ step: CrashStep) async throws {
        let name = "desk, \(step.rawValue)"
        let before = (try await stage.balance(stage.kiosk), try await stage.balance(stage.payer))
        let organizer = try await ServerCall.login(stage.url, "kiosk")
        let locks = Timestamp.now.advanced(by: .seconds(3_000)).iso8601
        let terms = """
            {"template_id":"01999f00-0000-7000-8000-000000000002","title":"Pub quiz",\
            "description":"Ten rounds.","entry_fee_cents":\(fee),"currency":"usd",\
            "locks_at":"\(locks)","starts_at":"\(locks)",\
            "tiers":[{"rank_min":1,"rank_max":1,"share_bps":10000}]}
            """
        let made: CreatedContest = try await ServerCall.post(
            stage.url,
            "/api/contests",
            terms,
            token: organizer
        )
        let place = "/api/contests/\(made.id)"
        let _: CreatedContest = try await ServerCall.post(
            stage.url,
            "\(place)/publish",
            "{}",
            token: organizer
        )
        try stage.arm([step], end: "cancelled")
        let request = try await opened(
            stage,
            NewRequest(amountCents: fee, ttlSeconds: 3_600, contestID: made.id)
        )
        try await pay(stage, request, name)
        _ = try await eventually("\(name): the organiser locks the contest") {
            try await stage.revive()
            return try? await ServerCall.post(
                stage.url,
                "\(place)/lock",
                "{}",
                token: organizer
            ) as CreatedContest
        }
        try await expectEnd(stage, request, .cancelled, name)
        let contest: ContestDetail = try await stage.until(
            "\(name): the payer reads the contest",
            stage.payer,
            "/v1/contests/\(made.id)"
        ) { _ in true }
        #expect(contest.entryCount.value == 1 && contest.userHasEntered, "\(name)")
        #expect(try await stage.balance(stage.kiosk) == before.0, "\(name)")
        #expect(try await stage.balance(stage.payer) == before.1 - fee, "\(name)")
    }
}
