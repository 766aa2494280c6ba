import Foundation
import GotchuAPI
import GotchuCore
import TestSupport
import Testing

/// Bills that several people share, with the real programs.
@Suite("A split from end to end")
struct SplitTests {
    private func openRequest(
        _ kiosk: Device,
        _ split: SplitTerms,
        seconds: Int? = nil
    ) async throws -> RequestView {
        let new = NewRequest(amountCents: 1_000, memo: "Dinner", ttlSeconds: seconds, split: split)
        return try await kiosk.call("POST", "/v1/requests", new)
    }

    private func resolve(_ request: RequestView, on payer: Device) async throws -> ResolvedSession {
        try await payer.call("POST", "/v1/resolve", ResolveRequest(eid: request.eid))
    }

    private func pay(
        _ request: RequestView,
        _ cents: Int64,
        on payer: Device
    ) async throws -> PaymentView {
        let new = NewPayment(eid: request.eid, confirmAmountCents: cents)
        let begun: PaymentView = try await payer.call("POST", "/v1/payments", new)
        return try await end(of: begun, on: payer)
    }

    private func restart(_ device: Device, at position: String) async throws {
        try device.signal(SIGKILL)
        _ = try await device.exitCode()
        try await device.start(at: position)
    }

    private func payers(_ shop: Shop, _ count: Int) async throws -> [Device] {
        var payers: [Device] = []
        for number in 0..<count {
            let payer = try await shop.daemon("payer\(number)", at: "1,\(number)")
            try await payer.logIn()
            payers.append(payer)
        }
        return payers
    }

    private func request(
        _ id: SessionID,
        on kiosk: Device,
        paid: Int64
    ) async throws -> RequestView {
        try await eventually("the kiosk knows of \(paid) paid shares") {
            let view = try await kiosk.get("/v1/requests/\(id)", as: RequestView.self)
            return view.places?.paid == paid ? view : nil
        }
    }

    /// Expects that the bill is not refunded as a whole, and that the shares' ids are pointed to.
    private func expectRefundByShare(of bill: RequestView, on kiosk: Device) async {
        await #expect {
            let _: PaymentView = try await kiosk.call(
                "POST",
                "/v1/refunds",
                NewRefund(sid: bill.id)
            )
        } throws: { error in
            let problem = error as? Problem
            return problem?.errorCode == .notRefundable
                && problem?.fix == "gotchu-ctl earnings history"
                && problem?.detail.contains("each by its own id: \(bill.id)-") == true
        }
    }

    @Test("Three payers at one kiosk pay a share each, and the kiosk learns of each share")
    func three() async throws {
        let shop = try await Shop()
        let kiosk = try await shop.daemon("kiosk", at: "0,0")
        try await kiosk.logIn()
        let payers = try await payers(shop, 3)
        let terms = SplitTerms(shares: 3, shareCents: nil, isAllOrNothing: true)
        let made = try await openRequest(kiosk, terms, seconds: 600)
        #expect(made.places?.places == 3 && made.places?.paid == 0)
        for (number, cents) in [334, 333, 333].enumerated() {
            let shown = try await resolve(made, on: payers[number])
            #expect(shown.amountCents == cents && shown.places?.paid == Int64(number))
            // A payment of another amount than the shown amount is refused.
            await #expect {
                _ = try await pay(made, 335, on: payers[number])
            } throws: { ($0 as? Problem)?.errorCode == .amountChanged }
            #expect(try await pay(made, Int64(cents), on: payers[number]).state == .paid)
            // A kiosk that was killed and restarted advertises the same EID again, and still learns
            // of the paid share.
            if number == 0 {
                try await restart(kiosk, at: "0,0")
                try await eventually("the restarted kiosk is heard") {
                    try await payers[1].verdict(on: made.eid)
                }
            }
            let told = try await request(made.id, on: kiosk, paid: Int64(number + 1))
            #expect(told.state == (number == 2 ? .paid : .advertising))
        }
        let told = try await kiosk.get("/v1/requests/\(made.id)", as: RequestView.self)
        #expect(told.progress == "3 of 3 paid · $10.00 of $10.00")
        #expect(told.places?.paidShares?.count == 3)
        await expectRefundByShare(of: told, on: kiosk)
        try await restart(kiosk, at: "0,0")
        let known = try await kiosk.get("/v1/requests/\(made.id)", as: RequestView.self)
        #expect(known.state == .paid && known.places == told.places)
        #expect(try await kiosk.balance() == 11_000)
        #expect(try await shop.verify().exitCode == 0)
    }

    @Test("An expired bill that is all-or-nothing refunds its shares; another bill keeps them")
    func walksAway() async throws {
        let shop = try await Shop()
        let kiosk = try await shop.daemon("kiosk", at: "0,0")
        try await kiosk.logIn()
        let payers = try await payers(shop, 1)
        for isAllOrNothing in [true, nil] {
            let terms = SplitTerms(
                shares: nil,
                shareCents: [400, 600],
                isAllOrNothing: isAllOrNothing
            )
            let made = try await openRequest(kiosk, terms, seconds: 15)
            #expect(try await pay(made, 400, on: payers[0]).state == .paid)
            #expect(try await kiosk.balance() == (isAllOrNothing == true ? 10_000 : 10_400))
            let over = try await eventually("the bill expires") {
                let view = try await kiosk.get("/v1/requests/\(made.id)", as: RequestView.self)
                return view.state == .expired ? view : nil
            }
            #expect(over.places?.paid == (isAllOrNothing == true ? 0 : 1))
            #expect(try await payers[0].balance() == (isAllOrNothing == true ? 10_000 : 9_600))
            if isAllOrNothing == nil { await expectRefundByShare(of: over, on: kiosk) }
        }
        #expect(try await kiosk.balance() == 10_400)
        #expect(try await shop.verify().exitCode == 0)
    }

    @Test("A payer whose daemon is killed during the payment of a share pays it once")
    func killed() async throws {
        let shop = try await Shop()
        let kiosk = try await shop.daemon("kiosk", at: "0,0")
        try await kiosk.logIn()
        let payer = try await payers(shop, 1)[0]
        let terms = SplitTerms(shares: 2, shareCents: nil, isAllOrNothing: true)
        let made = try await openRequest(kiosk, terms)
        let lock = try await Program.locking("\(shop.folder.path)/books.db")
        let new = NewPayment(eid: made.eid, confirmAmountCents: 500)
        let begun: PaymentView = try await payer.call("POST", "/v1/payments", new)
        #expect(begun.state == .locking)
        try await restart(payer, at: "1,0")
        lock.signal(SIGKILL)
        #expect(try await end(of: begun, on: payer).state == .paid)
        let told = try await request(made.id, on: kiosk, paid: 1)
        #expect(told.places?.paidCents.value == 500 && told.state == .advertising)
        #expect(try await payer.balance() == 9_500)
        let cancelled: RequestView = try await kiosk.call(
            "DELETE",
            "/v1/requests/\(made.id)",
            nil as String?
        )
        #expect(cancelled.state == .cancelled)
        #expect(try await payer.balance() == 10_000)
        #expect(try await shop.verify().exitCode == 0)
    }

    @Test("A bill with invalid shares is refused")
    func refused() async throws {
        let shop = try await Shop()
        let kiosk = try await shop.daemon("kiosk", at: "0,0")
        try await kiosk.logIn()
        for terms in [
            SplitTerms(shares: 1, shareCents: nil, isAllOrNothing: nil),
            SplitTerms(shares: 51, shareCents: nil, isAllOrNothing: nil),
            SplitTerms(shares: nil, shareCents: [400, 500], isAllOrNothing: nil),
            SplitTerms(shares: 2, shareCents: [400, 600], isAllOrNothing: nil),
            SplitTerms(shares: nil, shareCents: nil, isAllOrNothing: true),
        ] {
            await #expect {
                _ = try await openRequest(kiosk, terms)
            } throws: { ($0 as? Problem)?.errorCode == .validationError }
        }
    }
}
