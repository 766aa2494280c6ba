import Foundation
import GotchuAPI
import GotchuCore
import TestSupport
import Testing

@Suite("A kiosk or a server that is killed while an EID changes")
struct RotationCrashTests {
    private static let asking = #""isRotating":true"#
    private static let known = #""firstEID""#

    @Test("After a kill, the request is on the air again with a new EID that can be paid")
    func killed() async throws {
        let plans: [[String]] = [
            ["before\t\(Self.asking)\tlose", "before\t\(Self.known)\tlose"],
            ["after\t\(Self.asking)\tkill", "after\t\(Self.known)\tkill"],
            ["after\t\(Self.asking)\ttell\tSERVER\tbefore|-|kill"],
            ["after\t\(Self.asking)\ttell\tSERVER\tafter|-|kill", "before\t\(Self.known)\tlose"],
        ]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for plan in plans { group.addTask { try await Self.story(plan) } }
            try await group.waitForAll()
        }
    }

    private static func story(_ plan: [String]) async throws {
        let stage = try await CrashStage(kiosk: ["GOTCHU_EID_SECONDS": "1"])
        let server = stage.server.faults.plan
        try stage.kiosk.faults.plan(plan.map { $0.replacing("SERVER", with: server) })
        let request: RequestView = try await stage.call(
            stage.kiosk,
            "POST",
            "/v1/requests",
            NewRequest(amountCents: 100)
        )
        try await eventually("\(plan): everything was killed as planned") {
            try await stage.revive()
            let pending = stage.kiosk.faults.pending + stage.server.faults.pending
            return pending.isEmpty ? true : nil
        }
        let path = "/v1/requests/\(request.id)"
        let now = try await eventually("\(plan): the payer hears the request with a new EID") {
            let view: RequestView = try await stage.until("a view", stage.kiosk, path) { _ in true }
            guard view.isOnAir, view.eid != request.eid else { return nil as RequestView? }
            let heard: PresencesReply = try await stage.until(
                "a list of presences",
                stage.payer,
                "/v1/sessions"
            ) { _ in true }
            return heard.sessions.contains { $0.eid == view.eid } ? view : nil
        }
        #expect(now.id == request.id && now.state == .advertising, "\(plan)")
        let payment: PaymentView = try await stage.untilAnswered(
            stage.payer,
            "/v1/payments",
            NewPayment(eid: now.eid, confirmAmountCents: 100),
            key: IdempotencyKey.random().rawValue
        )
        #expect(payment.sid == request.id, "\(plan)")
        let end: RequestView = try await stage.until("the request ends", stage.kiosk, path) {
            $0.state.isFinal && !$0.isOnAir
        }
        #expect(end.state == .paid, "\(plan)")
        try await stage.expectBooksBalance()
    }
}
