import Foundation
import GotchuAPI
import TestSupport
import Testing

@testable import GotchuCommands

@Suite("Commands report a radio that receives nothing, and give no advice to come nearer")
struct ReceptionProblemTests {
    private static let reason = "Nothing can be heard: The recording has been played to its end."

    private let folder: TemporaryFolder
    private let socket: String
    private let daemon: Program

    /// Starts a daemon whose recording has ended, so that it hears nothing.
    init() async throws {
        folder = try TemporaryFolder()
        let header =
            #"{"gotchu_recording":1,"policy":{"near_enter":-60,"near_leave":-68,"#
            + #""tap_enter":-45,"tap_leave":-55},"radio":"bluez","#
            + #""started_at":"2026-11-22T16:17:48.656Z","version":"0.1.0"}"# + "\n"
        let recording = try folder.write(header, to: "recording")
        let socket = "\(folder.path)/g.sock"
        self.socket = socket
        daemon = try Program(
            "gotchud",
            [
                "--socket", socket, "--state", "\(folder.path)/state",
                "--radio", "replay:\(recording)", "--server", "http://127.0.0.1:9",
            ]
        )
        try await eventually("the recording has ended; it said: \(daemon.text)") {
            try await GotchuCtl.run(["status"], socket: socket).out.contains("played to its end")
                ? true : nil
        }
    }

    @Test(
        "The commands scan, pay, wait and calibrate name the reason and exit with 74",
        arguments: [
            "scan --once", "scan --timeout 0.5", "scan --tap --timeout 0.5 --json",
            "pay --yes --max 5 --timeout 0.5", "wait --for tap --timeout 0.5",
            "calibrate --timeout 0.5",
        ]
    )
    func told(command: String) async throws {
        let words = command.split(separator: " ").map(String.init)
        let run = try await GotchuCtl.run(words, socket: socket, input: "\n\n")
        #expect(run.code == 74, "\(run.err)")
        #expect(run.err.contains(Self.reason), "\(run.err)")
        #expect(!run.next.contains("scan"))
        guard words.contains("--json") else { return }
        let told = try run.json()
        #expect((told["sessions"] as? [Any])?.isEmpty == true)
        #expect((told["error"] as? [String: Any])?["exit_code"] as? Int == 74)
    }

    @Test("Advice names the daemon's socket if the command line named it")
    func advice() async throws {
        let own = ["--socket", socket]
        for words in [["status"] + own, ["doctor"] + own, ["wallet"] + own, own + ["wallet"]] {
            let run = try await GotchuCtl.run(words)
            let said = run.out + run.err
            #expect(said.contains("→ gotchu-ctl --socket \(socket) login\n"), "\(said)")
        }
        let usual = try await GotchuCtl.run(["wallet"], socket: socket)
        #expect(usual.next == "→ gotchu-ctl login")
        let help = try await GotchuCtl.run(["login"] + own)
        #expect(help.next == "→ gotchu-ctl login --help")
    }

    @Test(
        "The table of scan names the reason while it waits",
        .enabled(if: access("/usr/bin/script", X_OK) == 0)
    )
    func drawn() async throws {
        let terminal = try Program(
            "/usr/bin/script",
            [
                "--quiet", "--flush", "--command",
                "\(GotchuCtl.path) scan --timeout 60 --socket \(socket)", "/dev/null",
            ],
            environment: ["TERM": "xterm", "SHELL": "/bin/sh"]
        )
        try await eventually("the table shows the problem; it shows: \(terminal.text)") {
            let frames = terminal.text.split(separator: "\u{1B}[?25l\u{1B}[?7l").dropFirst()
            return frames.last?.contains(Self.reason) == true ? true : nil
        }
        terminal.signal(SIGTERM)
        try await terminal.exitCode()
        #expect(!terminal.text.contains("shows up within seconds"), "\(terminal.text)")
    }
}

@Suite("The reason why nothing is heard")
struct ReceptionReasonTests {
    @Test("A problem of the radio is the reason, and one of the server or the journal is not")
    func reason() {
        func status(_ codes: String...) -> StatusReply {
            StatusReply(
                isReady: false,
                summary: "",
                version: "",
                radio: RadioStatus(
                    kind: "bluez",
                    adapter: nil,
                    address: nil,
                    bluezVersion: nil,
                    isScanning: false,
                    listening: ListeningStatus(setting: .auto, isWanted: false),
                    advertising: [],
                    ignored: [:]
                ),
                server: ServerStatus(
                    url: "http://x",
                    isReachable: nil,
                    latencyMilliseconds: nil,
                    isLoggedIn: false
                ),
                health: codes.map { HealthItem(code: $0, severity: .error, text: "", fix: "") }
            )
        }
        let others = status("server-silent", "not-logged-in", "login-refused", "journal-unwritable")
        #expect(others.receptionProblem == nil)
        let off = status("journal-unwritable", "bluetooth-adapter-off")
        #expect(off.receptionProblem?.code == "bluetooth-adapter-off")
    }
}
