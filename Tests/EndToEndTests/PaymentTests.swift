import Foundation
import GotchuAPI
import GotchuCore
import TestSupport
import Testing

/// Payments with the real programs on the simulated air.
@Suite("A payment from end to end")
struct PaymentTests {
    @Test("A payer hears a till that is far, moves to it and pays; both sides and the ledger agree")
    func story() async throws {
        let shop = try await Shop()
        let (kiosk, payer) = try await shop.pair(payerAt: "5,0")
        let request: RequestView = try await kiosk.call(
            "POST",
            "/v1/requests",
            NewRequest(amountCents: 5000, memo: "Coffee")
        )
        #expect(request.state == .advertising && request.isOnAir)
        try await eventually("the payer hears the request as far") {
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
        try await eventually("the payer hears the request at tap distance") {
            try await payer.verdict(on: request.eid) == .tap ? true : nil
        }
        let payment: PaymentView = try await payer.call("POST", "/v1/payments", wish)
        let ended = try await end(of: payment, on: payer)
        #expect(ended.state == .paid)
        #expect(ended.newBalanceCents == 5000)
        let paid = try await eventually("the kiosk learns of the payment") {
            let view = try await kiosk.get("/v1/requests/\(request.id)", as: RequestView.self)
            return view.state == .paid && !view.isOnAir ? view : nil
        }
        #expect(paid.paidAt != nil)
        #expect(try await kiosk.balance() == 15_000)
        #expect(try await payer.balance() == 5000)
        let proof = try await shop.verify()
        #expect(proof.exitCode == 0, "\(proof.text)")
    }

    @Test("Two equally near tills are ambiguous, and a payment that requires nearness is refused")
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
        try await eventually("both requests are ambiguous") {
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

    @Test("A payment is refused if the confirmed amount or payee differs, or the EID is unknown")
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

    @Test("A payment that is cancelled before it is sent stays cancelled, and its lock is released")
    func cancelled() async throws {
        let shop = try await Shop()
        let (kiosk, payer) = try await shop.pair()
        let other = try await shop.daemon("other", at: "1,0")
        try await other.logIn()
        let request: RequestView = try await kiosk.call(
            "POST",
            "/v1/requests",
            NewRequest(amountCents: 5000)
        )
        let wish = NewPayment(sid: request.id, confirmAmountCents: 5000)
        shop.server.signal(SIGSTOP)
        let payment: PaymentView = try await payer.call("POST", "/v1/payments", wish)
        #expect(payment.state == .locking)
        let path = "/v1/payments/\(payment.id)"
        for _ in 0..<2 {
            let cancelled: PaymentView = try await payer.call("DELETE", path, nil as String?)
            #expect(cancelled.state == .declined && cancelled.code == "PAYMENT_CANCELLED")
        }
        shop.server.signal(SIGCONT)
        // The payer had already sent the call for its lock. The lock must not last its full minute.
        let second: PaymentView = try await eventually("another payer pays", within: .seconds(40)) {
            let payment: PaymentView = try await other.call("POST", "/v1/payments", wish)
            let ended = try await end(of: payment, on: other)
            return ended.state == .paid ? ended : nil
        }
        let ended = try await payer.get(path, as: PaymentView.self)
        #expect(ended.state == .declined && second.state == .paid)
        #expect(try await payer.balance() == 10_000)
        await #expect {
            let path = "/v1/payments/\(second.id)x"
            _ = try await other.call("DELETE", path, nil as String?) as PaymentView
        } throws: { ($0 as? Problem)?.errorCode == .notFound }
    }

    @Test("A payment that expires releases a lock whose answer was lost")
    func expired() async throws {
        let shop = try await Shop()
        let kiosk = try await shop.daemon("kiosk", at: "0,0")
        let other = try await shop.daemon("other", at: "1,0")
        let faults = try await Faults("payer", in: shop.folder.path)
        let payer = Device(name: "payer", shop: shop)
        let variables = faults.environment.map { "\($0.key)=\($0.value)" }
        try await payer.start(through: ["/usr/bin/env"] + variables)
        for device in [kiosk, other, payer] { try await device.logIn() }
        let request: RequestView = try await kiosk.call(
            "POST",
            "/v1/requests",
            NewRequest(amountCents: 5000)
        )
        let wish = NewPayment(sid: request.id, confirmAmountCents: 5000)
        shop.server.signal(SIGSTOP)
        let payment: PaymentView = try await payer.call("POST", "/v1/payments", wish)
        // The payer waits ten seconds for the answer to its lock.
        // SAFETY: the payer sends the call within this time; a longer sleep does no harm.
        try await Task.sleep(for: .seconds(2))
        try faults.suspended(for: 301)
        let path = "/v1/payments/\(payment.id)"
        try await eventually("the call for the lock times out") {
            try await payer.get(path, as: PaymentView.self).nextStep != nil ? true : nil
        }
        shop.server.signal(SIGCONT)
        let ended = try await end(of: payment, on: payer)
        #expect(ended.state == .declined && ended.code == "SESSION_EXPIRED", "\(ended)")
        // Without the release, the lock would last a minute.
        let second: PaymentView = try await eventually("another payer pays", within: .seconds(30)) {
            let payment: PaymentView = try await other.call("POST", "/v1/payments", wish)
            let ended = try await end(of: payment, on: other)
            return ended.state == .paid ? ended : nil
        }
        #expect(second.state == .paid)
        #expect(try await payer.balance() == 10_000)
    }

    @Test(
        "A payment is refused if the payee's id or the currency differs, although the name is right"
    )
    func payees() async throws {
        let shop = try await Shop()
        let (kiosk, payer) = try await shop.pair()
        let request: RequestView = try await kiosk.call(
            "POST",
            "/v1/requests",
            NewRequest(amountCents: 500)
        )
        let lookUp = ResolveRequest(eid: request.eid)
        let session: ResolvedSession = try await payer.call("POST", "/v1/resolve", lookUp)
        let id = try #require(session.payeeID)
        #expect(session.isPayeeKnown == false)
        var wish = NewPayment(
            eid: request.eid,
            confirmAmountCents: 500,
            confirmPayee: "kiosk",
            confirmPayeeID: "0000000000000000"
        )
        await #expect {
            try await payer.call("POST", "/v1/payments", wish) as PaymentView
        } throws: { ($0 as? Problem)?.errorCode == .payeeChanged }
        wish.confirmPayeeID = id
        wish.confirmCurrency = .eur
        await #expect {
            try await payer.call("POST", "/v1/payments", wish) as PaymentView
        } throws: { ($0 as? Problem)?.errorCode == .amountChanged }
        wish.confirmCurrency = .usd
        let payment: PaymentView = try await payer.call("POST", "/v1/payments", wish)
        #expect(try await end(of: payment, on: payer).payeeID == id)
        let next: RequestView = try await kiosk.call(
            "POST",
            "/v1/requests",
            NewRequest(amountCents: 600)
        )
        let again: ResolvedSession = try await payer.call(
            "POST",
            "/v1/resolve",
            ResolveRequest(eid: next.eid)
        )
        #expect(again.payeeID == id && again.isPayeeKnown == true)
    }

    @Test(
        "A payment without enough funds is declined with a next step, and its session is released"
    )
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
        try await eventually("the session is released") {
            let view = try await kiosk.get("/v1/requests/\(request.id)", as: RequestView.self)
            return view.state == .advertising ? true : nil
        }
    }
}

/// Waits until a payment has a final state.
func end(of payment: PaymentView, on payer: Device) async throws -> PaymentView {
    try await eventually("payment \(payment.id) ends", within: .seconds(60)) {
        let view = try? await payer.get("/v1/payments/\(payment.id)", as: PaymentView.self)
        return view?.state.isFinal == true ? view : nil
    }
}
