import Foundation
import GotchuAPI
import GotchuCore
import TestSupport
import Testing

@Suite("The arrival of a payer's device at a till")
struct NoticeTests {
    @Test("Only the till at tap distance learns of the device; the notice ends with the payment")
    func noticed() async throws {
        let shop = try await Shop()
        let (kiosk, payer) = try await shop.pair(payerAt: "5,0")
        let other = try await shop.daemon("other", at: "0,1.5")
        try await other.logIn()
        let terms = NewRequest(amountCents: 500)
        let request: RequestView = try await kiosk.call("POST", "/v1/requests", terms)
        let beside: RequestView = try await other.call("POST", "/v1/requests", terms)
        #expect(request.payee == "kiosk" && request.noticedAt == nil)
        // The calls for presences make the payer's daemon listen and resolve the near till.
        try payer.move(to: "0.8,0")
        try await eventually("the payer has resolved the near till's request") {
            let sessions = try await payer.get("/v1/sessions", as: PresencesReply.self).sessions
            return sessions.contains { $0.eid == request.eid && $0.session != nil } ? true : nil
        }
        func noticedAt() async throws -> Timestamp? {
            try await kiosk.get("/v1/requests/\(request.id)", as: RequestView.self).noticedAt
        }
        #expect(try await noticedAt() == nil)
        // A notice of the device while it was only near would have an earlier time.
        let moved = Timestamp.now
        try payer.move(to: "0.1,0")
        let noticed = try await eventually("the till learns of the device") {
            _ = try await payer.verdict(on: request.eid)
            return try await noticedAt()
        }
        #expect(noticed > moved)
        #expect(
            try await other.get("/v1/requests/\(beside.id)", as: RequestView.self).noticedAt == nil
        )
        let wish = NewPayment(eid: request.eid, confirmAmountCents: 500, proximity: .tap)
        let _: PaymentView = try await payer.call("POST", "/v1/payments", wish)
        let paid = try await eventually("the till learns of the payment") {
            let view = try await kiosk.get("/v1/requests/\(request.id)", as: RequestView.self)
            return view.state == .paid ? view : nil
        }
        #expect(paid.noticedAt == nil)
    }
}
