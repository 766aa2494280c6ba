import Foundation
import GotchuAPI
import GotchuCore
import TestSupport
import Testing

/// Money that goes back, through the real programs.
@Suite("A refund from end to end", .timeLimit(.minutes(3)))
struct RefundTests {
    /// A kiosk whose request of 50.00 was paid, and its payer.
    private func paid(
        _ shop: Shop
    ) async throws -> (kiosk: Device, payer: Device, request: RequestView) {
        let (kiosk, payer) = try await shop.pair()
        let request: RequestView = try await kiosk.call(
            "POST",
            "/v1/requests",
            NewRequest(amountCents: 5000)
        )
        let wish = NewPayment(eid: request.eid, confirmAmountCents: 5000)
        let payment: PaymentView = try await payer.call("POST", "/v1/payments", wish)
        #expect(try await end(of: payment, on: payer).state == .paid)
        return (kiosk, payer, request)
    }

    private func refund(_ kiosk: Device, _ arguments: String...) async throws -> (Int32, String) {
        let all = ["refund"] + arguments + ["--yes", "--socket", kiosk.socket]
        let program = try Program("gotchu-ctl", all)
        let code = try await program.exitCode()
        return (code, program.text)
    }

    @Test("an impatient person gives a part back once; a reference makes it another refund")
    func impatient() async throws {
        let shop = try await Shop()
        let (kiosk, payer, request) = try await paid(shop)
        let id = request.id.rawValue
        let first = try await refund(kiosk, id, "5.00")
        #expect(first.0 == 0, "\(first.1)")
        #expect(first.1.contains("Gave $5.00 back · balance $145.00"), "\(first.1)")
        let again = try await refund(kiosk, id, "5.00")
        #expect(again.0 == 0 && again.1.contains("was made already"), "\(again.1)")
        #expect(try await payer.balance() == 5500)
        let other = try await refund(kiosk, id, "5.00", "--reference", "second cup")
        #expect(other.0 == 0 && !other.1.contains("already"), "\(other.1)")
        #expect(try await payer.balance() == 6000)
        let large = try await refund(kiosk, id, "40.01")
        #expect(large.0 == 1 && large.1.contains("Only $40.00 is left"), "\(large.1)")
        let rest = try await refund(kiosk, id)
        #expect(rest.0 == 0 && rest.1.contains("Gave $40.00 back"), "\(rest.1)")
        let whole = try await refund(kiosk, id, "--reference", "once more")
        #expect(whole.0 == 1 && whole.1.contains("gone back already"), "\(whole.1)")
        #expect(try await payer.balance() == 10_000)
        #expect(try await kiosk.balance() == 10_000)
        let history = try Program("gotchu-ctl", ["history", "--json", "--socket", kiosk.socket])
        #expect(try await history.exitCode() == 0)
        #expect(history.text.matches(of: /"kind"\s*:\s*"refund"/).count == 3, "\(history.text)")
        #expect(try await shop.verify().exitCode == 0)
    }

    @Test("ten presses at once are one refund")
    func presses() async throws {
        let shop = try await Shop()
        let (kiosk, payer, request) = try await paid(shop)
        let wish = NewRefund(sid: request.id, amountCents: 700)
        let ids = await withTaskGroup(of: String?.self) { group in
            for _ in 0..<10 {
                group.addTask {
                    // While the first is being written down, another press is told so.
                    let view: PaymentView? = try? await kiosk.call("POST", "/v1/refunds", wish)
                    return view?.id
                }
            }
            return await group.reduce(into: Set<String>()) { if let id = $1 { $0.insert(id) } }
        }
        #expect(ids.count == 1)
        let id = try #require(ids.first)
        try await eventually("the refund ends") {
            let view = try await kiosk.get("/v1/payments/\(id)", as: PaymentView.self)
            return view.state == .paid ? true : nil
        }
        #expect(try await payer.balance() == 5700)
    }

    @Test("killed right after the refund was written down, the kiosk finishes it, once")
    func crash() async throws {
        let shop = try await Shop()
        let (kiosk, payer, request) = try await paid(shop)
        let wish = NewRefund(sid: request.id)
        let started: PaymentView = try await kiosk.call("POST", "/v1/refunds", wish)
        #expect(started.kind == .refund && started.amountCents == 5000)
        try kiosk.signal(SIGKILL)
        _ = try await kiosk.exitCode()
        try await kiosk.start(at: "0,0")
        try await eventually("the refund ends") {
            let view = try? await kiosk.get("/v1/payments/\(started.id)", as: PaymentView.self)
            return view?.state == .paid ? true : nil
        }
        let again: PaymentView = try await kiosk.call("POST", "/v1/refunds", wish)
        #expect(again.id == started.id && again.state == .paid)
        #expect(try await payer.balance() == 10_000)
        #expect(try await kiosk.balance() == 10_000)
        #expect(try await shop.verify().exitCode == 0)
    }
}
