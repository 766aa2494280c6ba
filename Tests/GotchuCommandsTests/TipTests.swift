import Foundation
import TestSupport
import Testing

@Suite("Tips on the command line")
struct TipTests {
    @Test("Commands of payer and shop that show money show amount and tip separately")
    func story() async throws {
        let system = try await LiveSystem()
        let both = "$6.00 ($5.00 + $1.00 tip)"
        let watch = try Program("gotchu-ctl", ["watch", "--socket", system.kiosk])
        try await eventually("the snapshot is shown") { watch.text.contains("---") ? true : nil }
        async let asked = GotchuCtl.run(["request", "5", "--allow-tip"], socket: system.kiosk)
        let paid = try await GotchuCtl.run(
            ["pay", "--tip", "1", "--yes", "--max", "6"],
            socket: system.payer
        )
        #expect(paid.code == 0, "\(paid.err)")
        #expect(paid.err.contains("Paying \(both) to “shop”"), "\(paid.err)")
        #expect(paid.out.hasPrefix("Paid \(both) to “shop” · "))
        #expect(paid.out.hasSuffix(" · balance $94.00\n"))
        let request = try await asked
        #expect(request.code == 0 && request.out.contains("Paid \(both) · "), "\(request.out)")
        try await eventually("the watch shows the payment; it said: \(watch.text)") {
            watch.text.contains("request \(both) paid · Paid.") ? true : nil
        }
        watch.signal(SIGTERM)
        try await watch.exitCode()

        for (socket, sign) in [(system.kiosk, "+"), (system.payer, "-")] {
            let history = try await GotchuCtl.run(["history"], socket: socket)
            #expect(history.out.contains("\(sign)$6.00  paid"), "\(history.out)")
            #expect(history.out.contains("with $1.00 tip"), "\(history.out)")
            let wallet = try await GotchuCtl.run(["wallet"], socket: socket)
            #expect(wallet.out.contains("\(sign)$6.00  "), "\(wallet.out)")
            #expect(wallet.out.contains(" with $1.00 tip"), "\(wallet.out)")
        }
        let json = try await GotchuCtl.run(["history", "--json"], socket: system.payer).json()
        let payment = try #require((json["payments"] as? [[String: Any]])?.first)
        #expect(payment["amount_cents"] as? Int == 500 && payment["tip_cents"] as? Int == 100)
        let id = try #require(payment["sid"] as? String)
        let back = try await GotchuCtl.run(["refund", id, "5.50", "--yes"], socket: system.kiosk)
        #expect(back.out.hasPrefix("Refunded $5.50 ($5.00 + $0.50 tip)"), "\(back.out)")
        let list = try await GotchuCtl.run(["history"], socket: system.kiosk).out
        let lines = list.split(separator: "\n").dropFirst().map { $0.split(separator: " ") }
        let eid = try #require(lines.last?.last, "\(list)")
        #expect(list.contains("-$5.50  paid   of \(eid) with $0.50 tip"), "\(list)")
    }

    @Test("An invalid tip is refused with the reason, and nothing is paid")
    func refusals() async throws {
        let system = try await LiveSystem()
        let open = try await system.request("5", ["--allow-tip"])
        func pay(_ eid: String, _ arguments: String...) async throws -> GotchuCtl {
            try await GotchuCtl.run(["pay", eid, "--yes"] + arguments, socket: system.payer)
        }
        let dear = try await pay(open.eid, "--tip", "1", "--max", "5.99")
        #expect(dear.code == 1)
        #expect(
            dear.err.contains(
                "would get $6.00 ($5.00 + $1.00 tip), and --max is $5.99. Nothing was paid."
            ),
            "\(dear.err)"
        )
        let yen = try await pay(open.eid, "--tip", "100", "--max", "900", "--currency", "jpy")
        #expect(yen.code == 1)
        #expect(yen.err.contains("requests $5.00, and --tip is ¥100. Nothing was paid."))
        let euro = try await pay(open.eid, "--max", "20", "--currency", "eur")
        #expect(euro.code == 1)
        #expect(
            euro.err.contains("would get $5.00, and --max is €20.00. Nothing was paid."),
            "\(euro.err)"
        )
        for wrong in ["-1", "1.005", "ten"] {
            let misread = try await pay(open.eid, "--tip=\(wrong)", "--max", "9")
            #expect(misread.code == 65, "\(misread.err)")
            #expect(misread.next == "→ gotchu-ctl pay --tip 2.00", "\(misread.err)")
        }
        let large = try await pay(open.eid, "--tip", "999995.01", "--max", "2000000")
        #expect(large.code == 65, "\(large.err)")
        #expect(large.err.contains("are at most $1,000,000.00 together."), "\(large.err)")
        let plain = try await system.request("4")
        let none = try await pay(plain.eid, "--tip", "1", "--max", "9")
        #expect(none.code == 1)
        #expect(none.err.contains("takes no tip with this request. Nothing was paid."))
        #expect(none.next == "→ gotchu-ctl pay", "\(none.err)")
        let without = try await pay(plain.eid, "--tip", "0", "--max", "9")
        #expect(without.code == 0 && without.out.hasPrefix("Paid $4.00 to "), "\(without.err)")
    }
}
