import Foundation
import GotchuAPI
import GotchuCore
import TestSupport
import Testing

/// The whole job with the real programs on the simulated air.
@Suite("A payment from end to end")
struct PaymentTests {
    @Test("heard far, moved near, paid: both sides say so and the books balance")
    func story() async throws {
        let shop = try await Shop()
        let (kiosk, payer) = try await shop.pair(payerAt: "5,0")
        let request: RequestView = try await kiosk.call(
            "POST",
            "/v1/requests",
            NewRequest(amountCents: 5000, memo: "Coffee")
        )
        #expect(request.state == .advertising && request.isOnAir)
        try await eventually("it is heard, far") {
            try await payer.verdict(on: request.eid) == .far ? true : nil
        }
        let wish = NewPayment(
            eid: request.eid,
            confirmAmountCents: 5000,
            confirmPayee: "kiosk",
            proximity: .tap
        )
        await #expect {
            try await payer.call("POST", "/v1/payments", wish) as PaymentView
        } throws: { ($0 as? Problem)?.errorCode == .notNear }
        try payer.move(to: "0.1,0")
        try await eventually("it is at tap distance") {
            try await payer.verdict(on: request.eid) == .tap ? true : nil
        }
        let payment: PaymentView = try await payer.call("POST", "/v1/payments", wish)
        let ended = try await end(of: payment, on: payer)
        #expect(ended.state == .paid)
        #expect(ended.newBalanceCents == 5000)
        let paid = try await eventually("the kiosk is told") {
            let view = try await kiosk.get("/v1/requests/\(request.id)", as: RequestView.self)
            return view.state == .paid && !view.isOnAir ? view : nil
        }
        #expect(paid.paidAt != nil)
        #expect(try await kiosk.balance() == 15_000)
        #expect(try await payer.balance() == 5000)
        let proof = try await shop.verify()
        #expect(proof.exitCode == 0, "\(proof.text)")
    }

    @Test("two tills equally near: ambiguous, and nothing can be paid by nearness")
    func ambiguous() async throws {
        let shop = try await Shop()
        let left = try await shop.daemon("left", at: "0,0.2")
        let right = try await shop.daemon("right", at: "0,-0.2")
        let payer = try await shop.daemon("payer", at: "0,0")
        for device in [left, right, payer] { try await device.logIn() }
        let first: RequestView = try await left.call(
            "POST",
            "/v1/requests",
            NewRequest(amountCents: 100)
        )
        let second: RequestView = try await right.call(
            "POST",
            "/v1/requests",
            NewRequest(amountCents: 200)
        )
        try await eventually("both are ambiguous") {
            let verdicts = [
                try await payer.verdict(on: first.eid), try await payer.verdict(on: second.eid),
            ]
            return verdicts == [.ambiguous, .ambiguous] ? true : nil
        }
        let wish = NewPayment(eid: first.eid, confirmAmountCents: 100, proximity: .near)
        await #expect {
            try await payer.call("POST", "/v1/payments", wish) as PaymentView
        } throws: { ($0 as? Problem)?.errorCode == .ambiguous }
        #expect(try await payer.balance() == 10_000)
    }

    @Test("what the person did not see is not charged")
    func confirmation() async throws {
        let shop = try await Shop()
        let (kiosk, payer) = try await shop.pair()
        let request: RequestView = try await kiosk.call(
            "POST",
            "/v1/requests",
            NewRequest(amountCents: 5000)
        )
        let other = NewPayment(eid: request.eid, confirmAmountCents: 4999)
        await #expect {
            try await payer.call("POST", "/v1/payments", other) as PaymentView
        } throws: { ($0 as? Problem)?.errorCode == .amountChanged }
        let stranger = NewPayment(
            eid: request.eid,
            confirmAmountCents: 5000,
            confirmPayee: "somebody"
        )
        await #expect {
            try await payer.call("POST", "/v1/payments", stranger) as PaymentView
        } throws: { ($0 as? Problem)?.errorCode == .payeeChanged }
        let nobody = NewPayment(eid: EID(literal: "0123456789"), confirmAmountCents: 5000)
        await #expect {
            try await payer.call("POST", "/v1/payments", nobody) as PaymentView
        } throws: { ($0 as? Problem)?.errorCode == .notFound }
        #expect(try await payer.balance() == 10_000)
    }

    @Test("a payment without funds is declined, for good, and says what to do")
    func declined() async throws {
        let shop = try await Shop(openingBalance: 100)
        let (kiosk, payer) = try await shop.pair()
        let request: RequestView = try await kiosk.call(
            "POST",
            "/v1/requests",
            NewRequest(amountCents: 101)
        )
        let payment: PaymentView = try await payer.call(
            "POST",
            "/v1/payments",
            NewPayment(eid: request.eid, confirmAmountCents: 101)
        )
        let ended = try await end(of: payment, on: payer)
        #expect(ended.state == .declined)
        #expect(ended.code == "INSUFFICIENT_WALLET_BALANCE")
        #expect(ended.nextStep == "gotchu-ctl wallet")
        try await eventually("the session is given back") {
            let view = try await kiosk.get("/v1/requests/\(request.id)", as: RequestView.self)
            return view.state == .advertising ? true : nil
        }
    }
}

/// Waits for the definite end of a payment.
func end(of payment: PaymentView, on payer: Device) async throws -> PaymentView {
    try await eventually("payment \(payment.id) ends", within: .seconds(60)) {
        let view = try? await payer.get("/v1/payments/\(payment.id)", as: PaymentView.self)
        return view?.state.isFinal == true ? view : nil
    }
}
