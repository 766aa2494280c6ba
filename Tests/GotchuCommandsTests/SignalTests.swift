import Foundation
import GotchuAPI
import GotchuCore
import LocalAPI
import TestSupport
import Testing

@Suite("Commands that are ended by a signal or whose output cannot be written")
struct SignalTests {
    /// Starts a command that waits for a payment, and returns it when its request is on the air.
    private func openRequest(_ system: LiveSystem) async throws -> Program {
        let program = try Program("gotchu-ctl", ["request", "5", "--socket", system.kiosk])
        try await eventually("the request is on the air") {
            program.text.contains("EID") ? true : nil
        }
        return program
    }

    @Test(
        "A command that a signal ends cancels its request first",
        arguments: [SIGTERM, SIGHUP, SIGINT]
    )
    func cancelledBySignal(signal: Int32) async throws {
        let system = try await LiveSystem(distance: 5)
        let program = try await openRequest(system)
        #expect(try await system.requestStates() == ["advertising"])
        program.signal(signal)
        #expect(try await program.exitCode() == 1)
        #expect(program.text.hasSuffix("Cancelled · nobody was charged\n"), "\(program.text)")
        #expect(try await system.requestStates() == ["cancelled"])
    }

    @Test(
        "A payment that a signal ends while the server hangs is not charged, or exits with 75",
        arguments: [SIGTERM, SIGHUP, SIGINT],
        [0, 500]
    )
    func payment(signal: Int32, after milliseconds: Int) async throws {
        let system = try await LiveSystem()
        let request = try await system.request("5")
        let program = try Program(
            "gotchu-ctl",
            ["pay", "--yes", "--max", "5", "--timeout", "30", "--socket", system.payer]
        )
        try await eventually("the command begins to pay") {
            program.text.contains("Paying $5.00") ? true : nil
        }
        system.signalServer(SIGSTOP)
        if milliseconds > 0 {
            try await eventually("the command handles the signal, or has ended") {
                program.handles(signal) || !program.isRunning ? true : nil
            }
        }
        // SAFETY: the signal may come at any moment of the payment.
        try await Task.sleep(for: .milliseconds(milliseconds))
        program.signal(signal)
        let code = try await program.exitCode()
        system.signalServer(SIGCONT)
        let wallet = try await GotchuCtl.run(["wallet", "--json"], socket: system.payer).json()
        let cents = try #require(wallet["available_cents"] as? Int)
        // The payment may have ended before the server was stopped.
        guard !program.text.contains("Paid $5.00") else {
            #expect([0, 128 + signal].contains(code), "\(program.text)")
            return #expect(cents == 9_500, "\(program.text)")
        }
        switch code {
        case 1:
            #expect(program.text.contains("Not paid") && cents == 10_000, "\(program.text)")
            let states = try await system.requestStates()
            #expect(states == ["advertising"] || states == ["locked"], "\(request.eid): \(states)")
        case 75:
            #expect([9_500, 10_000].contains(cents), "\(program.text)")
        default:
            // A signal before the payment begins only ends the command.
            #expect(code == 128 + signal && milliseconds == 0, "\(code): \(program.text)")
            #expect(cents == 10_000, "\(program.text)")
        }
    }

    @Test(
        "A payment that waits for its lock is cancelled by the time limit and by each signal",
        arguments: [nil, SIGINT, SIGTERM, SIGHUP] as [Int32?]
    )
    func waiting(signal: Int32?) async throws {
        let system = try await LiveSystem()
        let request = try await system.request("5")
        let lock = try await system.lockBooks()
        let timeout = signal == nil ? "2" : "60"
        let program = try Program(
            "gotchu-ctl",
            [
                "pay", request.eid, "--yes", "--max", "5", "--timeout", timeout, "--socket",
                system.payer,
            ]
        )
        if let signal {
            let client = LocalClient(socketPath: system.payer)
            try await eventually("the payment waits for its lock") {
                try await client.payments().first?.state == .locking ? true : nil
            }
            program.signal(signal)
        }
        #expect(try await program.exitCode() == 1, "\(program.text)")
        let end = "Not paid: It was cancelled before anything was sent."
        #expect(program.text.contains(end), "\(program.text)")
        lock.signal(SIGKILL)
        try await eventually("the request can be paid again") {
            try await system.requestStates() == ["advertising"] ? true : nil
        }
        let wallet = try await GotchuCtl.run(["wallet", "--json"], socket: system.payer).json()
        #expect(wallet["available_cents"] as? Int == 10_000)
    }

    @Test("A payment cancelled by its id can be made again; a paid payment cannot be cancelled")
    func cancelledByID() async throws {
        let system = try await LiveSystem()
        let request = try await system.request("5")
        let client = LocalClient(socketPath: system.payer)
        let sid = try #require(SessionID(rawValue: request.id))
        func begin() async throws -> PaymentView {
            try await client.createPayment(NewPayment(sid: sid, confirmAmountCents: 500))
        }
        func cancel(_ payment: PaymentView) async throws -> GotchuCtl {
            try await GotchuCtl.run(["cancel", payment.id], socket: system.payer)
        }
        system.signalServer(SIGSTOP)
        let first = try await begin()
        for _ in 0..<2 {
            let cancelled = try await cancel(first)
            #expect(cancelled.code == 0, "\(cancelled.err)")
            #expect(cancelled.out == "Cancelled · nobody was charged\n")
        }
        // The call for the first lock is not answered yet. Its release would also release the lock
        // of a second payment.
        await #expect {
            _ = try await begin()
        } throws: { error in
            guard case .problem(let problem)? = error as? LocalClientFailure else { return false }
            return problem.errorCode == .paymentInProgress
        }
        system.signalServer(SIGCONT)
        let second = try await eventually("a second payment begins") { try? await begin() }
        try await eventually("the second payment is paid") {
            try await client.payment(second.id).state == .paid ? true : nil
        }
        #expect(try await client.payment(first.id).code == "PAYMENT_CANCELLED")
        #expect(try await client.wallet().availableCents.value == 9_500)
        let late = try await cancel(second)
        #expect(late.code == 1, "\(late.err)")
        #expect(late.err.contains("The payment was made before it could be"), "\(late.err)")
    }

    @Test(
        "With a hung daemon, the first Ctrl-C starts a cancellation and the second ends the command"
    )
    func hung() async throws {
        let system = try await LiveSystem(distance: 5)
        let program = try await openRequest(system)
        system.signalTill(SIGSTOP)
        program.signal(SIGINT)
        try await eventually("the command says that it cancels") {
            program.text.hasSuffix("Cancelling the request …; Ctrl-C again leaves it open.\n")
                ? true : nil
        }
        program.signal(SIGINT)
        #expect(try await program.exitCode() == 128 + SIGINT)
        system.signalTill(SIGCONT)
    }

    @Test("A request that a hung daemon has not made yet is cancelled once it is made")
    func hungBefore() async throws {
        let system = try await LiveSystem(distance: 5)
        system.signalTill(SIGSTOP)
        let program = try Program("gotchu-ctl", ["request", "5", "--socket", system.kiosk])
        let said = try await eventually("the command handles the signal") { () -> String? in
            // A signal that arrives before the command handles it would end the command.
            guard program.handles(SIGINT) else { return nil }
            program.signal(SIGINT)
            return try await eventually("the command says that it cancels") {
                program.text.isEmpty ? nil : program.text
            }
        }
        #expect(said == "Cancelling the request …; Ctrl-C again leaves it open.\n")
        system.signalTill(SIGCONT)
        #expect(try await program.exitCode() == 1)
        #expect(program.text.hasSuffix("Cancelled · nobody was charged\n"), "\(program.text)")
        #expect(try await system.requestStates() == ["cancelled"])
    }

    @Test("The second Ctrl-C ends a command whose daemon hangs before it has made the request")
    func leftBefore() async throws {
        let system = try await LiveSystem(distance: 5)
        system.signalTill(SIGSTOP)
        let program = try Program("gotchu-ctl", ["request", "5", "--socket", system.kiosk])
        try await eventually("the command handles signals") { program.handles(SIGINT) ? true : nil }
        program.signal(SIGINT)
        try await eventually("the command says that it cancels") {
            program.text.contains("Ctrl-C again leaves it open.") ? true : nil
        }
        program.signal(SIGINT)
        #expect(try await program.exitCode() == 128 + SIGINT)
        system.signalTill(SIGCONT)
    }

    @Test("A second SIGHUP of a closing terminal does not stop the cancellation")
    func hungUpTwice() async throws {
        let system = try await LiveSystem(distance: 5)
        let program = try await openRequest(system)
        system.signalTill(SIGSTOP)
        for _ in 1...2 {
            program.signal(SIGHUP)
            try await eventually("the command cancels the request") {
                program.text.contains("Cancelling the request") ? true : nil
            }
        }
        system.signalTill(SIGCONT)
        #expect(try await program.exitCode() == 1)
        #expect(try await system.requestStates() == ["cancelled"])
    }

    /// Tests both signals at the same time, because each command waits half a minute for the
    /// daemon.
    @Test("A refund that a signal ends before the daemon's answer is reported as unknown")
    func unknownOutcome() async throws {
        let system = try await LiveSystem(distance: 5)
        system.signalTill(SIGSTOP)
        let refund = ["refund", "some-id", "5", "--yes", "--socket", system.kiosk]
        let programs = try [SIGINT, SIGTERM].map { signal in
            (signal, try Program("gotchu-ctl", refund))
        }
        for (signal, program) in programs {
            try await eventually("the command handles signals") {
                program.handles(signal) ? true : nil
            }
            program.signal(signal)
        }
        for (_, program) in programs {
            #expect(try await program.exitCode() == 75)
            #expect(
                program.text.contains("gotchud has not answered: it may be refunding.")
            )
        }
        system.signalTill(SIGCONT)
    }

    /// Starts a command in its own terminal.
    private static func terminal(_ command: String) throws -> Program {
        try Program(
            "/usr/bin/script",
            ["--quiet", "--flush", "--command", command, "/dev/null"],
            environment: ["TERM": "xterm", "SHELL": "/bin/sh"]
        )
    }

    @Test(
        "A command whose terminal is closed cancels its request",
        .enabled(if: access("/usr/bin/script", X_OK) == 0)
    )
    func terminalClosed() async throws {
        let system = try await LiveSystem(distance: 5)
        let command = "exec \(GotchuCtl.path) request 5 --socket \(system.kiosk)"
        let terminal = try Self.terminal(command)
        try await eventually("the countdown is drawn") {
            terminal.text.contains("Waiting for a payer") ? true : nil
        }
        #expect(try await system.requestStates() == ["advertising"])
        terminal.signal(SIGKILL)
        try await eventually("the request is cancelled", within: .seconds(20)) {
            try await system.requestStates() == ["cancelled"] ? true : nil
        }
    }

    @Test(
        "A table that was stopped continues on a new line, but draws nothing as a background job",
        .enabled(if: access("/usr/bin/script", X_OK) == 0),
        arguments: [("", true), ("set -m; ", false)]
    )
    func stopped(jobControl: String, isDrawnAgain: Bool) async throws {
        let system = try await LiveSystem(distance: 5)
        let folder = try TemporaryFolder()
        let scan = "\(GotchuCtl.path) scan --timeout 5 --socket \(system.payer)"
        // The script loops, because in a shell with job control `wait` ends when the job stops.
        let wait = "while kill -0 $! 2>/dev/null; do sleep 1; done"
        let command = "\(jobControl)\(scan) & echo $! >\(folder.path)/pid; \(wait)"
        let terminal = try Self.terminal(command)
        try await eventually("the table is drawn in place") {
            terminal.text.contains("\u{1B}[1A") ? true : nil
        }
        let pid = try #require(
            Int32(String(contentsOfFile: "\(folder.path)/pid", encoding: .utf8).dropLast())
        )
        kill(pid, SIGSTOP)
        try await eventually("the scan is stopped") {
            let state = try String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)
            return state.contains(") T ") ? true : nil
        }
        // Some earlier output may not have passed through the terminal yet: at least the rest of a
        // frame, which the scan writes at once.
        var (before, looks) = (-1, 0)
        try await eventually("the terminal has passed on all output") {
            let text = terminal.text
            looks = text.utf8.count == before ? looks + 1 : 0
            before = text.utf8.count
            return looks >= 10 && text.hasSuffix("\u{1B}[?7h\u{1B}[?25h") ? true : nil
        }
        kill(pid, SIGCONT)
        func frames() -> [Substring] {
            String(decoding: terminal.text.utf8.dropFirst(before), as: UTF8.self)
                .split(separator: "\u{1B}[?25l\u{1B}[?7l")
        }
        guard isDrawnAgain else {
            try await terminal.exitCode()
            return #expect(!frames().joined().contains("\u{1B}"), "\(terminal.text)")
        }
        try await eventually("the table is drawn again, in place") {
            frames().count > 1 ? true : nil
        }
        #expect(frames()[0].hasPrefix("\u{1B}[K"))
        #expect(frames()[1].hasPrefix("\u{1B}[1A"))
        terminal.signal(SIGKILL)
    }

    @Test("A command whose final message cannot be written exits with 74; its request has expired")
    func unprintedEnd() async throws {
        let system = try await LiveSystem(distance: 5)
        let request = "request 5 --ttl 1 --json --socket \(system.kiosk)"
        let program = try Program(
            "/bin/sh",
            ["-c", "exec \(GotchuCtl.path) \(request) >/dev/full"]
        )
        #expect(try await program.exitCode() == 74)
        #expect(try await system.requestStates() == ["expired"])
    }

    @Test(
        "A request that cannot be printed is cancelled, and the exit status shows the reason",
        arguments: [(">/dev/full", 74), (">&-", 74), ("| true", 128 + SIGPIPE)]
    )
    func unprintedRequest(target: String, code: Int32) async throws {
        let system = try await LiveSystem(distance: 5)
        var command = "\(GotchuCtl.path) request 5 --socket \(system.kiosk)"
        if target == "| true" {
            // Starts the command only when the pipe has no reader any more.
            command = "(trap '' PIPE; while echo; do :; done) 2>/dev/null; " + command
        }
        let program = try Program(
            "/bin/sh",
            ["-c", "{ \(command); echo ended with $? >&2; } \(target)"]
        )
        try await eventually("the command ends") {
            program.text.contains("ended with") ? true : nil
        }
        #expect(program.text.contains("ended with \(code)\n"), "\(program.text)")
        #expect(try await system.requestStates() == ["cancelled"])
    }

    @Test("A signal that the caller ignores, as nohup does, stays ignored")
    func ignored() async throws {
        let system = try await LiveSystem(distance: 5)
        let shell = "trap '' HUP; exec \(GotchuCtl.path) watch --socket \(system.kiosk)"
        let program = try Program("/bin/sh", ["-c", shell])
        try await eventually("the snapshot is shown") { program.text.contains("---") ? true : nil }
        program.signal(SIGHUP)
        let request = try await system.request("5")
        try await eventually("the watch still shows new requests") {
            program.text.contains(request.eid) ? true : nil
        }
        program.signal(SIGTERM)
        #expect(try await program.exitCode() == 0)
    }
}
