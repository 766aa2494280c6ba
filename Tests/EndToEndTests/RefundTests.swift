import Foundation
import GotchuAPI
import GotchuCore
import LocalAPI
import TestSupport
import Testing

/// Refunds with the real programs.
@Suite("A refund from end to end")
struct RefundTests {
    /// Returns a kiosk whose request of $50.00 is paid, and the payer.
    private func paid(
        _ shop: Shop
    ) async throws -> (kiosk: Device, payer: Device, request: RequestView) {
        let (kiosk, payer) = try await shop.pair()
        return (kiosk, payer, try await pay(5000, from: payer, to: kiosk))
    }

    private func pay(
        _ amount: Int64,
        from payer: Device,
        to payee: Device
    ) async throws -> RequestView {
        let request: RequestView = try await payee.call(
            "POST",
            "/v1/requests",
            NewRequest(amountCents: amount)
        )
        let wish = NewPayment(eid: request.eid, confirmAmountCents: amount)
        let payment: PaymentView = try await payer.call("POST", "/v1/payments", wish)
        #expect(try await end(of: payment, on: payer).state == .paid)
        return request
    }

    /// Removes a daemon's journal, but not its login, and restarts the daemon.
    private func forget(_ device: Device, of shop: Shop) async throws {
        try device.signal(SIGTERM)
        _ = try await device.exitCode()
        try FileManager.default.removeItem(atPath: "\(shop.folder.path)/\(device.name)/journal")
        try await device.start(at: "0,0")
    }

    @Test("A daemon that lost its journal does not make the same refund again")
    func forgotten() async throws {
        let shop = try await Shop()
        let (kiosk, payer, request) = try await paid(shop)
        let id = request.id.rawValue
        let first = try await refund(kiosk, id, "30.00")
        #expect(first.0 == 0, "\(first.1)")
        try await forget(kiosk, of: shop)
        let again = try await refund(kiosk, id, "30.00")
        #expect(again.0 == 0 && again.1.contains("nothing more was refunded"), "\(again.1)")
        #expect(!again.1.contains("balance"), "\(again.1)")
        #expect(try await payer.balance() == 8000)
        let metrics = try await Metrics(of: kiosk)
        #expect(metrics["gotchu_refunds_made_total", ["made": "before"]] == 1)
        #expect(metrics["gotchu_refunds_made_total", ["made": "now"]] == 0)
        let other = try await refund(kiosk, id, "10.00", "--reference", "the cake too")
        #expect(other.0 == 0 && other.1.contains("Refunded $10.00"), "\(other.1)")
        #expect(try await payer.balance() == 9000)
        #expect(try await shop.verify().exitCode == 0)
    }

    @Test("A declined refund succeeds later, and only once even if the daemon loses its journal")
    func declined() async throws {
        let shop = try await Shop()
        let (kiosk, payer, request) = try await paid(shop)
        let id = request.id.rawValue
        _ = try await pay(15_000, from: kiosk, to: payer)
        for _ in 0..<2 {
            let poor = try await refund(kiosk, id, "5.00")
            #expect(poor.0 == 1 && poor.1.contains("does not hold enough"), "\(poor.1)")
        }
        _ = try await pay(1000, from: payer, to: kiosk)
        try await forget(kiosk, of: shop)
        let rich = try await refund(kiosk, id, "5.00")
        #expect(rich.0 == 0 && rich.1.contains("Refunded $5.00"), "\(rich.1)")
        try await forget(kiosk, of: shop)
        let again = try await refund(kiosk, id, "5.00")
        #expect(again.0 == 0 && again.1.contains("nothing more was refunded"), "\(again.1)")
        #expect(try await kiosk.balance() == 500)
        #expect(try await shop.verify().exitCode == 0)
    }

    private func refund(_ kiosk: Device, _ arguments: String...) async throws -> (Int32, String) {
        let all = ["refund"] + arguments + ["--yes", "--socket", kiosk.socket]
        let program = try Program("gotchu-ctl", all)
        let code = try await program.exitCode()
        return (code, program.text)
    }

    @Test("A repeated partial refund is made once; with a reference it is another refund")
    func impatient() async throws {
        let shop = try await Shop()
        let (kiosk, payer, request) = try await paid(shop)
        let id = request.id.rawValue
        let first = try await refund(kiosk, id, "5.00")
        #expect(first.0 == 0, "\(first.1)")
        #expect(first.1.contains("Refunded $5.00 · balance $145.00"), "\(first.1)")
        let again = try await refund(kiosk, id, "5.00")
        #expect(again.0 == 0 && again.1.contains("nothing more was refunded"), "\(again.1)")
        #expect(!again.1.contains("balance") && again.1.contains("--reference"), "\(again.1)")
        #expect(try await payer.balance() == 5500)
        let other = try await refund(kiosk, id, "5.00", "--reference", "second cup")
        #expect(other.0 == 0 && !other.1.contains("already"), "\(other.1)")
        #expect(try await payer.balance() == 6000)
        // An empty reference is refused, because its meaning is unclear.
        let empty = try await refund(kiosk, id, "5.00", "--reference", "")
        #expect(empty.0 == 65 && empty.1.contains("reference must not be empty"), "\(empty.1)")
        let yen = try await refund(kiosk, id, "500", "--currency", "jpy")
        #expect(yen.0 == 65 && yen.1.contains("paid in usd, not in jpy"), "\(yen.1)")
        let euro = try await refund(kiosk, id, "5.00", "--currency", "eur")
        #expect(euro.0 == 65 && euro.1.contains("paid in usd, not in eur"), "\(euro.1)")
        #expect(euro.1.hasSuffix("→ Say how much in usd, or no amount for all that is left.\n"))
        let all = try await refund(kiosk, id, "--currency", "eur")
        #expect(all.0 == 65 && all.1.contains("paid in usd, not in eur"), "\(all.1)")
        #expect(try await payer.balance() == 6000)
        let large = try await refund(kiosk, id, "40.01")
        #expect(large.0 == 1 && large.1.contains("Only $40.00 is left"), "\(large.1)")
        let rest = try await refund(kiosk, id)
        #expect(rest.0 == 0 && rest.1.contains("Refunded $40.00"), "\(rest.1)")
        // Nothing is left, so another reference would not help.
        let over = try await refund(kiosk, id)
        #expect(over.0 == 0 && over.1.contains("nothing more was refunded"), "\(over.1)")
        #expect(!over.1.contains("--reference"), "\(over.1)")
        let whole = try await refund(kiosk, id, "--reference", "once more")
        #expect(whole.0 == 1 && whole.1.contains("refunded already"), "\(whole.1)")
        #expect(try await payer.balance() == 10_000)
        #expect(try await kiosk.balance() == 10_000)
        let history = try Program("gotchu-ctl", ["history", "--json", "--socket", kiosk.socket])
        #expect(try await history.exitCode() == 0)
        #expect(history.text.matches(of: /"kind"\s*:\s*"refund"/).count == 3, "\(history.text)")
        #expect(try await shop.verify().exitCode == 0)
    }

    @Test("References are compared byte for byte, and each refund's end is published once")
    func bytes() async throws {
        let shop = try await Shop()
        let (kiosk, payer, request) = try await paid(shop)
        let ends = try await LocalClient(socketPath: kiosk.socket).withEvents { events in
            _ = try await events.next()
            // The two references are equal in Unicode, but have different keys at the server.
            for reference in ["caf\u{E9}", "cafe\u{301}"] {
                let made = try await refund(
                    kiosk,
                    request.id.rawValue,
                    "5.00",
                    "--reference",
                    reference
                )
                #expect(made.0 == 0 && made.1.contains("Refunded $5.00"), "\(made.1)")
            }
            let _: RequestView = try await kiosk.call(
                "POST",
                "/v1/requests",
                NewRequest(amountCents: 1)
            )
            var ends = 0
            while let event = try await events.next() {
                switch event {
                case .paymentChanged(let view): ends += view.state == .paid ? 1 : 0
                case .requestChanged: return ends
                default: break
                }
            }
            return 0
        }
        #expect(ends == 2)
        #expect(try await payer.balance() == 6000)
    }

    @Test("Ten simultaneous calls for the same refund make one refund")
    func presses() async throws {
        let shop = try await Shop()
        let (kiosk, payer, request) = try await paid(shop)
        let wish = NewRefund(sid: request.id, amountCents: 700)
        let ids = await withTaskGroup(of: String?.self) { group in
            for _ in 0..<10 {
                group.addTask {
                    // A call may fail while the first call is being written to the journal.
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

    @Test("A kiosk that is killed after its journal has recorded a refund makes the refund once")
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
