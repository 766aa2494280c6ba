import Foundation
import GotchuAPI
import GotchuCore
import TestSupport
import Testing

/// Tips with the real programs.
@Suite("A tip from end to end")
struct TipTests {
    private func openRequest(_ kiosk: Device, allowsTip: Bool?) async throws -> RequestView {
        let new = NewRequest(amountCents: 500, allowsTip: allowsTip)
        return try await kiosk.call("POST", "/v1/requests", new)
    }

    private func pay(
        _ request: RequestView,
        _ tip: Int64?,
        on payer: Device,
        key: String? = nil
    ) async throws -> PaymentView {
        let new = NewPayment(eid: request.eid, confirmAmountCents: 500, tipCents: tip)
        return try await payer.call("POST", "/v1/payments", new, key: key)
    }

    @Test("Payer and kiosk see the amount and the tip separately, and both are refunded")
    func story() async throws {
        let shop = try await Shop()
        let (kiosk, payer) = try await shop.pair()
        let request = try await openRequest(kiosk, allowsTip: true)
        #expect(request.amountCents == 500 && request.tipCents == 0)
        let resolved: ResolvedSession = try await payer.call(
            "POST",
            "/v1/resolve",
            ResolveRequest(eid: request.eid)
        )
        #expect(resolved.allowsTip == true)
        let paid = try await end(of: pay(request, 100, on: payer), on: payer)
        #expect(paid.state == .paid && paid.detail == "Paid $6.00 ($5.00 + $1.00 tip).")
        #expect(paid.amountCents == 500 && paid.tipCents == 100 && paid.newBalanceCents == 9400)
        let told = try await eventually("the kiosk learns of the payment") {
            let view = try await kiosk.get("/v1/requests/\(request.id)", as: RequestView.self)
            return view.state == .paid ? view : nil
        }
        #expect(told.amountCents == 500 && told.tipCents == 100)
        // A restarted kiosk still knows the tip.
        try kiosk.signal(SIGKILL)
        _ = try await kiosk.exitCode()
        try await kiosk.start(at: "0,0")
        let known = try await kiosk.get("/v1/requests/\(request.id)", as: RequestView.self)
        #expect(known.state == .paid && known.tipCents == 100)

        await #expect {
            let large = NewRefund(sid: request.id, amountCents: 601)
            _ = try await kiosk.call("POST", "/v1/refunds", large) as PaymentView
        } throws: { ($0 as? Problem)?.detail == "Only $6.00 is left to refund." }
        let part = NewRefund(sid: request.id, amountCents: 540)
        let first: PaymentView = try await kiosk.call("POST", "/v1/refunds", part)
        let back = try await end(of: first, on: kiosk)
        #expect(back.amountCents == 540 && back.tipCents == 40)
        #expect(back.detail == "Refunded $5.40 ($5.00 + $0.40 tip).")
        let rest: PaymentView = try await kiosk.call(
            "POST",
            "/v1/refunds",
            NewRefund(sid: request.id)
        )
        #expect(rest.amountCents == 60)
        #expect(try await end(of: rest, on: kiosk).tipCents == 60)
        #expect(try await payer.balance() == 10_000)
        #expect(try await shop.verify().exitCode == 0)
    }

    @Test(
        "A tip is refused if the request does not allow it or it is invalid; it may be left out"
    )
    func refused() async throws {
        let shop = try await Shop()
        let (kiosk, payer) = try await shop.pair()
        for allowsTip in [nil, false] {
            let request = try await openRequest(kiosk, allowsTip: allowsTip)
            #expect(request.tipCents == nil)
            await #expect {
                _ = try await pay(request, 100, on: payer)
            } throws: { ($0 as? Problem)?.errorCode == .tipNotAllowed }
        }
        let request = try await openRequest(kiosk, allowsTip: true)
        for tip in [-1, 99_999_501, .max] as [Int64] {
            await #expect {
                _ = try await pay(request, tip, on: payer)
            } throws: {
                ($0 as? Problem)?.detail == "tip_cents must be 0 to 99999500 with this amount."
            }
        }
        await #expect {
            let new = NewPayment(sid: request.id, confirmAmountCents: 500, tipCents: 100)
            _ = try await payer.call("POST", "/v1/payments", new) as PaymentView
        } throws: { ($0 as? Problem)?.errorCode == .validationError }
        let plain = try await end(of: pay(request, 0, on: payer), on: payer)
        #expect(plain.state == .paid && plain.detail == "Paid $5.00.")
        #expect(try await payer.balance() == 9500)
    }

    @Test("An open payment keeps its tip after a kill and refuses calls with another tip")
    func open() async throws {
        let shop = try await Shop()
        let (kiosk, payer) = try await shop.pair()
        let request = try await openRequest(kiosk, allowsTip: true)
        let lock = try await Program.locking("\(shop.folder.path)/books.db")
        let key = IdempotencyKey.random().rawValue
        let first = try await pay(request, 100, on: payer, key: key)
        #expect(first.state == .locking && first.tipCents == 100)
        #expect(try await pay(request, 100, on: payer).id == first.id)
        for tip in [nil, 200] as [Int64?] {
            await #expect {
                _ = try await pay(request, tip, on: payer)
            } throws: {
                ($0 as? Problem)?.detail
                    == "$6.00 ($5.00 + $1.00 tip) is being paid for this already."
            }
        }
        try payer.signal(SIGKILL)
        _ = try await payer.exitCode()
        try await payer.start(at: "1,0")
        lock.signal(SIGKILL)
        let paid = try await end(of: first, on: payer)
        #expect(paid.state == .paid && paid.tipCents == 100 && paid.newBalanceCents == 9400)
        #expect(try await pay(request, 100, on: payer, key: key).id == first.id)
        await #expect {
            _ = try await pay(request, 200, on: payer, key: key)
        } throws: { ($0 as? Problem)?.errorCode == .idempotencyKeyReused }
        #expect(try await payer.balance() == 9400)
        #expect(try await kiosk.balance() == 10_600)
    }
}
