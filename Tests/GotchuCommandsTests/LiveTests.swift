import Foundation
import TestSupport
import Testing

@Suite("Commands with real daemons and a real server")
struct LiveTests {
    @Test("Without a login, status exits with 1 and wallet with 78, and both say how to log in")
    func notLoggedIn() async throws {
        let system = try await LiveSystem(isLoggedIn: false)
        let status = try await GotchuCtl.run(["status"], socket: system.kiosk)
        #expect(status.code == 1)
        #expect(status.out.contains("→ gotchu-ctl login"))
        let wallet = try await GotchuCtl.run(["wallet"], socket: system.kiosk)
        #expect(wallet.code == 78, "\(wallet.err)")
        #expect(wallet.next == "→ gotchu-ctl login")
        #expect(wallet.err.contains("Nobody is logged in at the payment server."))
        let doctor = try await GotchuCtl.run(["doctor"], socket: system.kiosk)
        #expect(doctor.code == 1)
        #expect(doctor.out.contains("✗ login"))

        let login = ["login", "--dev-email", "shop@example.com"]
        let loggedIn = try await GotchuCtl.run(login, socket: system.kiosk)
        #expect(loggedIn.code == 0)
        #expect(loggedIn.out.hasPrefix("Logged in at http://127.0.0.1:"))
        let ready = try await GotchuCtl.run(["wait", "--for", "ready"], socket: system.kiosk)
        #expect(ready.code == 0)
        let after = try await GotchuCtl.run(["status"], socket: system.kiosk)
        #expect(after.code == 0)
        #expect(after.out.hasPrefix("Ready · "))
        #expect(try await GotchuCtl.run(["logout"], socket: system.kiosk).code == 0)
        #expect(try await GotchuCtl.run(["status"], socket: system.kiosk).code == 1)
    }

    @Test("A payer at the kiosk pays its request, and the kiosk's command ends with Paid")
    func payment() async throws {
        let system = try await LiveSystem()
        async let asked = GotchuCtl.run(
            ["request", "50.00", "--memo", "Coffee"],
            socket: system.kiosk
        )
        let paid = try await GotchuCtl.run(["pay", "--yes", "--max", "50"], socket: system.payer)
        #expect(paid.code == 0, "\(paid.err)")
        #expect(paid.err.contains("Paying $50.00 to “shop” for “Coffee”"))
        #expect(paid.out.hasPrefix("Paid $50.00 to “shop” · "))
        #expect(paid.out.hasSuffix(" · balance $50.00\n"))
        let request = try await asked
        #expect(request.code == 0, "\(request.err)")
        #expect(request.out.contains("Paid $50.00 · "))

        let wallet = try await GotchuCtl.run(["wallet"], socket: system.kiosk)
        #expect(wallet.out.hasPrefix("$150.00 available\n"))
        let entry = wallet.out.split(separator: "\n").first { $0.contains("received") }
        #expect(entry?.contains("+$50.00") == true)
        let history = try await GotchuCtl.run(["history"], socket: system.payer)
        #expect(history.out.contains("payment  -$50.00  paid   to “shop”"))
        let json = try await GotchuCtl.run(["wallet", "--json"], socket: system.payer).json()
        #expect(json["available_cents"] as? Int == 5000)
    }

    @Test("A payment above the limit or balance, of an unknown EID or of a far request fails")
    func refusals() async throws {
        let system = try await LiveSystem()
        let request = try await system.request("150.00")
        func pay(_ arguments: String...) async throws -> GotchuCtl {
            try await GotchuCtl.run(["pay", "--yes"] + arguments, socket: system.payer)
        }
        let limited = try await pay("--max", "149.99")
        #expect(limited.code == 1)
        #expect(
            limited.err.contains("would get $150.00, and --max is $149.99. Nothing was paid.")
        )
        let poor = try await pay(request.eid, "--max", "150", "--json")
        #expect(poor.code == 1)
        #expect(
            poor.err.contains(
                "Not paid: You need $50.00 more: $150.00 is asked for, and your wallet holds "
                    + "$100.00. Nothing was charged."
            )
        )
        #expect(poor.next == "→ gotchu-ctl wallet add 50.00", "\(poor.err)")
        // `--json` prints one object, which has the payment and the failure.
        let told = try poor.json()
        #expect(told["state"] as? String == "declined")
        #expect(told["code"] as? String == "INSUFFICIENT_WALLET_BALANCE")
        #expect((told["error"] as? [String: Any])?["exit_code"] as? Int == 1)
        let less = try await GotchuCtl.run(["withdraw", "0.50", "--yes"], socket: system.payer)
        #expect(less.code == 65, "\(less.err)")
        #expect(less.next == "→ gotchu-ctl withdraw --help", "\(less.err)")
        let unknown = try await pay("0000000000", "--max", "1")
        #expect(unknown.code == 1)
        // The payer's balance is sufficient for this request. Only the distance prevents a payment.
        let away = try await LiveSystem(distance: 5)
        _ = try await away.request("50.00")
        let arguments = ["pay", "--yes", "--max", "50", "--timeout", "1.5"]
        let far = try await GotchuCtl.run(arguments, socket: away.payer)
        #expect(far.code == 75, "\(far.err)")
        #expect(far.err.contains("Nothing came near enough within"), "\(far.err)")
    }

    @Test(
        "A request that expires exits with 1, `cancel` ends an open one, and a long memo is refused"
    )
    func requestEnds() async throws {
        let system = try await LiveSystem(distance: 5)
        let expired = try await GotchuCtl.run(["request", "3", "--ttl", "1"], socket: system.kiosk)
        #expect(expired.code == 1)
        #expect(expired.out.contains("Expired · nobody paid in time"))

        let left = try await system.request("4")
        let cancel = try await GotchuCtl.run(["cancel", left.id], socket: system.kiosk)
        #expect(cancel.code == 0)
        #expect(cancel.out == "Cancelled · nobody was charged\n")
        let wait = ["wait", "--for", "paid:\(left.id)"]
        let impossible = try await GotchuCtl.run(wait, socket: system.kiosk)
        #expect(impossible.code == 1)
        #expect(impossible.err.contains("The request is cancelled."))
        let history = try await GotchuCtl.run(["history"], socket: system.kiosk)
        #expect(history.out.contains(" $3.00  expired "), "\(history.out)")
        let line = history.out.split(separator: "\n").first { $0.contains(" $4.00  cancelled ") }
        #expect(line?.hasSuffix("  \(left.eid)") == true, "\(history.out)")

        let memo = String(repeating: "m", count: 141)
        let long = try await GotchuCtl.run(["request", "5", "--memo", memo], socket: system.kiosk)
        #expect(long.code == 65, "\(long.err)")
        #expect(long.next == "→ gotchu-ctl request --help")
        let euro = ["request", "5", "--currency", "eur"]
        let other = try await GotchuCtl.run(euro, socket: system.kiosk)
        #expect(other.code == 65, "\(other.err)")
        let advice = "You have no wallet in this currency: use your wallet's currency."
        #expect(other.err.contains(advice))
    }

    @Test(
        "A command without permission exits with 77 and says what would permit it",
        .enabled(if: geteuid() == 0 && access("/usr/bin/setpriv", X_OK) == 0)
    )
    func notPermitted() async throws {
        let system = try await LiveSystem(distance: 5)
        system.openTill()
        let status = try GotchuCtl.asNobody(["status", "--socket", system.kiosk])
        #expect(try await status.exitCode() == 0, "\(status.text)")
        let request = try GotchuCtl.asNobody(["request", "5", "--socket", system.kiosk])
        #expect(try await request.exitCode() == 77, "\(request.text)")
        #expect(request.text.contains("needs the level 'cashier'"))
        // The machine that runs the tests may have no group `gotchu`.
        let isGroup = getgrnam("gotchu") != nil
        let fix = isGroup ? "sudo usermod -aG gotchu USER" : "Add the user id to cashier_uids in"
        #expect(request.text.contains("\n→ \(fix)"), "\(request.text)")
        let json = try GotchuCtl.asNobody(["--json", "wallet", "--socket", system.kiosk])
        #expect(try await json.exitCode() == 77)
        #expect(json.text.contains(#""code" : "NOT_PERMITTED""#), "\(json.text)")
        let id = try await system.request("1").id
        let wait = try GotchuCtl.asNobody(["wait", "--for", "paid:\(id)", "--socket", system.kiosk])
        #expect(try await wait.exitCode() == 77, "\(wait.text)")
        let unknown = try await GotchuCtl.run(["wait", "--for", "paid:x"], socket: system.kiosk)
        #expect(unknown.code == 1 && unknown.err.contains("knows no request and no payment"))
    }

    @Test(
        "Scan on a narrow terminal draws each frame without wrapping, and restores the terminal",
        .enabled(if: access("/usr/bin/script", X_OK) == 0)
    )
    func narrow() async throws {
        let system = try await LiveSystem()
        _ = try await system.request("7.50")
        let scan = "exec \(GotchuCtl.path) scan --timeout \(2 * patience) --socket \(system.payer)"
        let terminal = try Program(
            "/usr/bin/script",
            ["--quiet", "--flush", "--command", "stty cols 20 rows 24; \(scan)", "/dev/null"],
            environment: ["TERM": "xterm", "SHELL": "/bin/sh", "NO_COLOR": "1"]
        )
        try await terminal.exitCode()
        let frames = terminal.text.split(separator: "\u{1B}[?25l\u{1B}[?7l").dropFirst()
        #expect(frames.last?.contains("EID ") == true, "\(terminal.text)")
        // Each frame must restore the terminal, because scan may be stopped or killed after it.
        for frame in frames {
            let drawn = frame.firstRange(of: "\u{1B}[?7h\u{1B}[?25h")
            let rest = drawn.map { frame[$0.upperBound...] }
            #expect(rest.map { !$0.contains("EID") } == true, "\(terminal.text)")
        }
    }

    @Test("Scan shows what it hears as lines and as JSON, and exits with 1 if it hears nothing")
    func scan() async throws {
        let system = try await LiveSystem()
        let nothing = try await GotchuCtl.run(["scan", "--once"], socket: system.payer)
        #expect(nothing.code == 1)
        #expect(nothing.err.contains("Nothing is heard."))
        let request = try await system.request("7.50")
        let wait = ["wait", "--for", "tap", "--json"]
        let tap = try await GotchuCtl.run(wait, socket: system.payer)
        #expect(tap.code == 0)
        #expect(try tap.json()["holds"] as? Bool == true)
        let once = try await GotchuCtl.run(["scan", "--once", "--explain"], socket: system.payer)
        #expect(once.code == 0)
        #expect(once.out.contains("EID         VERDICT"))
        #expect(once.out.contains("\(request.eid)  tap"))
        #expect(once.out.contains("adverts/s"))
        let arguments = ["scan", "--tap", "--timeout", "\(patience)", "--json-lines"]
        let lines = try await GotchuCtl.run(arguments, socket: system.payer)
        #expect(lines.code == 0)
        let first = try #require(lines.out.split(separator: "\n").first)
        let event = try JSONSerialization.jsonObject(with: Data(first.utf8)) as? [String: Any]
        #expect(event?["event"] as? String == "session")
        let json = try await GotchuCtl.run(["scan", "--json"], socket: system.payer).json()
        let session = try #require((json["sessions"] as? [[String: Any]])?.first)
        #expect(session["verdict"] as? String == "tap")
    }
}
