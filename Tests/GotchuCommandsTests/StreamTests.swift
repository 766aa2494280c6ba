import Foundation
import GotchuAPI
import GotchuCore
import LocalAPI
import TestSupport
import Testing

@testable import GotchuCommands

@Suite("Commands that follow the daemon's events, and the demo")
struct StreamTests {
    @Test("A watch whose output is closed by head ends at its next output")
    func brokenPipe() async throws {
        let system = try await LiveSystem(distance: 5)
        let shell = "\(GotchuCtl.path) watch --socket \(system.kiosk) | head -1; echo ended"
        let program = try Program("/bin/sh", ["-c", shell])
        try await eventually("the snapshot is shown") { program.text.contains("---") ? true : nil }
        _ = try await system.request("1", ["--ttl", "2"])
        #expect(try await program.exitCode() == 0)
        try await eventually("the shell continues") { program.text.contains("ended") ? true : nil }
    }

    @Test("A watch reports that the daemon has gone, and exits with 0 on Ctrl-C")
    func daemonGone() async throws {
        let system = try await LiveSystem(distance: 5)
        let arguments = ["watch", "--json-lines", "--socket", system.kiosk]
        let program = try Program("gotchu-ctl", arguments)
        try await eventually("the snapshot is shown") {
            program.text.contains(#""event":"snapshot""#) ? true : nil
        }
        system.signalTill(SIGKILL)
        try await eventually("the watch reports the daemon's absence") {
            program.text.contains("gotchud has gone away") ? true : nil
        }
        program.signal(SIGINT)
        #expect(try await program.exitCode() == 0)
    }

    @Test("A watch reports the daemon's return and the events after it")
    func daemonBack() async throws {
        let system = try await LiveSystem(distance: 5)
        let program = try Program("gotchu-ctl", ["watch", "--socket", system.kiosk])
        try await eventually("the snapshot is shown") { program.text.contains("---") ? true : nil }
        system.signalTill(SIGKILL)
        try await eventually("the watch reports the daemon's absence") {
            program.text.contains("gotchud has gone away") ? true : nil
        }
        try await system.restartTill()
        try await eventually("the watch reports the daemon's return") {
            program.text.contains("gotchud is back.") ? true : nil
        }
        let request = try await system.request("5")
        try await eventually("the new request is shown") {
            program.text.contains(request.eid) ? true : nil
        }
        program.signal(SIGINT)
        #expect(try await program.exitCode() == 0)
    }

    @Test(
        "A watch continues although its user may open the restarted daemon's socket only later",
        .enabled(if: getuid() == 0)
    )
    func socketOpensLater() async throws {
        let system = try await LiveSystem(distance: 5)
        system.openTill()
        let program = try GotchuCtl.asNobody(["watch", "--socket", system.kiosk])
        try await eventually("the snapshot is shown") { program.text.contains("---") ? true : nil }
        system.closeTill()
        system.signalTill(SIGKILL)
        try await system.restartTill()
        // The test cannot see the watch's attempts to connect, so it waits for four of them.
        let looks = ContinuousClock.now + EventFollower.retryInterval * 4
        try await eventually("the watch has tried to connect") {
            ContinuousClock.now > looks ? true : nil
        }
        #expect(program.isRunning, "\(program.text)")
        system.openTill()
        try await eventually("the watch reports the daemon's return; it said: \(program.text)") {
            program.text.contains("gotchud is back.") ? true : nil
        }
    }

    @Test("A request is followed to its end although the daemon is down when the watch begins")
    func daemonRestarts() async throws {
        let system = try await LiveSystem(distance: 5)
        let opened = try await system.request("5")
        let client = LocalClient(socketPath: system.kiosk)
        let request = try await client.request(try #require(SessionID(rawValue: opened.id)))
        system.signalTill(SIGKILL)
        try await eventually("the till does not answer") {
            try await GotchuCtl.run(["status"], socket: system.kiosk).code == 69 ? true : nil
        }
        let watch = RequestWatch(request: request, output: Output(isJSON: true))
        async let end = watch.waitForEnd(client)
        try await system.restartTill()
        try await eventually("the restarted till cancels the request") {
            try? await client.cancelRequest(request.id)
        }
        #expect(try await end.state == .cancelled)
    }

    @Test(
        "A request whose events cannot be followed is cancelled, and a payment then exits with 75"
    )
    func unfollowed() async throws {
        let system = try await LiveSystem()
        let asked = try await system.request("5")
        let readers = try [system.kiosk, system.payer].map { try EventReaders(128, at: $0) }
        defer { for those in readers { those.close() } }
        let refused = try await GotchuCtl.run(["request", "6"], socket: system.kiosk)
        #expect(refused.code == 75)
        #expect(refused.err.contains("The request was cancelled, as it cannot be followed."))
        let cancelled = try await GotchuCtl.run(["history", "--json"], socket: system.kiosk)
        #expect(cancelled.out.contains("\"cancelled\""), "\(cancelled.out)")
        #expect(refused.err.contains("A user may have 128 readers"))

        let pay = ["pay", asked.eid, "--yes", "--max", "5"]
        let payment = try await GotchuCtl.run(pay, socket: system.payer)
        #expect(payment.code == 75)
        #expect(payment.err.contains("The payment may still be made: see gotchu-ctl history"))
    }

    @Test("A watch with --json prints one complete snapshot")
    func snapshot() async throws {
        let system = try await LiveSystem(distance: 5)
        let run = try await GotchuCtl.run(["watch", "--json"], socket: system.kiosk)
        #expect(run.code == 0)
        let snapshot = try run.json()
        #expect(Set(snapshot.keys) == ["payments", "requests", "sessions", "status"])
    }

    @Test("The demo runs to its end, and says on Ctrl-C that nothing is left behind")
    func demo() async throws {
        let run = try await GotchuCtl.run(["demo"])
        #expect(run.code == 0, "\(run.out)\(run.err)")
        #expect(run.out.contains("The payer has PAID $50.00"))
        #expect(run.out.contains("the kiosk has $150.00, the payer $50.00"))
        #expect(run.out.contains("The books are right."))

        let program = try Program("gotchu-ctl", ["demo"])
        try await eventually("the demo's kiosk advertises its request") {
            program.text.contains("advertises") ? true : nil
        }
        program.signal(SIGINT)
        #expect(try await program.exitCode() == 130)
        #expect(program.text.contains("nothing is left behind"))
    }

    @Test("A demo with screens serves each screen, and says how to pair a till and how to pay")
    func screens() async throws {
        let program = try Program("gotchu-ctl", ["demo", "--screens"])
        defer { program.signal(SIGINT) }
        let pairing = try await eventually("the demo shows the pairing", within: .seconds(60)) {
            program.text.firstMatch(of: /\n    (\/\S+) till pair CODE .* --socket (\S+)\n/)
        }
        let (control, socket) = (String(pairing.output.1), String(pairing.output.2))
        #expect(FileManager.default.isExecutableFile(atPath: control))
        for (name, word) in [
            ("display", "Corner Cafe"), ("till", "Charge"), ("earnings", "Log in"),
        ] {
            let line = program.text.split(separator: "\n").first { $0.contains(" \(name) ") }
            let url = try #require(line?.split(separator: " ").last)
            #expect(try await curl([String(url)]).contains(word), "\(name)")
        }
        _ = try await curl([
            "--unix-socket", socket, "http://gotchu/v1/requests", "--data",
            #"{"amount_cents": 123}"#,
        ])
        let link = try await eventually("the demo says how to pay the request") {
            program.text.firstMatch(of: /\n    (http:\/\/127\S+\/p\/[0-9a-f]{10})\n/)
        }
        #expect(try await curl([String(link.output.1)]).contains("$1.23"))
        program.signal(SIGINT)
        #expect(try await program.exitCode() == 130)
    }

    private func curl(_ arguments: [String]) async throws -> String {
        let curl = try Program(
            "/usr/bin/curl",
            ["--silent", "--location", "--max-time", "20"] + arguments
        )
        #expect(try await curl.exitCode() == 0, "\(arguments)")
        return curl.text
    }

    @Test(
        "A demo whose output cannot be written exits with 74 and says that nothing is left behind"
    )
    func unwritableDemo() async throws {
        let shell = "\(GotchuCtl.path) demo >/dev/full; echo ended with $?"
        let program = try Program("/bin/sh", ["-c", shell])
        try await program.exitCode()
        #expect(program.text.contains("nothing is left behind"), "\(program.text)")
        #expect(program.text.hasSuffix("→ df -h\nended with 74\n"), "\(program.text)")
    }

    @Test("A demo whose output nobody reads leaves no server behind")
    func unreadDemo() async throws {
        let program = try Program("/bin/sh", ["-c", "\(GotchuCtl.path) demo | head -n 1"])
        try await program.exitCode()
        let url = try #require(program.text.firstMatch(of: #/http://127\.0\.0\.1:\d+/#)).output
        // curl exits with 7 if nothing listens.
        let curl = try Program("/usr/bin/curl", ["--silent", "\(url)/healthz"])
        #expect(try await curl.exitCode() == 7, "\(program.text)")
    }
}
