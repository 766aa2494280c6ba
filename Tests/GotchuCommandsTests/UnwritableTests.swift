import Foundation
import TestSupport
import Testing

@Suite("Programs whose output cannot be written")
struct UnwritableTests {
    @Test(
        "A command whose data cannot be written exits with 74 and says why",
        arguments: ["status", "status --json"]
    )
    func full(command: String) async throws {
        let system = try await LiveSystem(distance: 5)
        let shell = "exec \(GotchuCtl.path) --socket \(system.kiosk) \(command) >/dev/full"
        let program = try Program("/bin/sh", ["-c", shell])
        #expect(try await program.exitCode() == 74)
        #expect(program.text.contains("cannot be written: No space left on device."))
        #expect(program.text.hasSuffix("→ df -h\n"))
    }

    @Test(
        "A program whose output cannot be written exits with 74 and says why",
        arguments: [
            ("gotchu-ctl", "--help"), ("gotchu-ctl", "help request"), ("gotchu-ctl", "--version"),
            ("gotchu-ctl", "--generate-completion-script bash"), ("gotchu-ctl", "exit-codes"),
            ("gotchud", "--help"), ("gotchud", "--check-config --server http://127.0.0.1:1"),
            ("gotchu-server", "--version"), ("gotchu-server", "openapi"),
        ]
    )
    func printed(name: String, arguments: String) async throws {
        let path = "'\(Program.folder.path)/\(name)'"
        for (target, reason) in [
            (">/dev/full", "No space left on device"), (">&-", "Bad file descriptor"),
        ] {
            let program = try Program("/bin/sh", ["-c", "exec \(path) \(arguments) \(target)"])
            #expect(try await program.exitCode() == 74)
            let said = "\(name): The standard output cannot be written: \(reason).\n→ df -h\n"
            #expect(program.text == said)
        }
        let good = try Program("/bin/sh", ["-c", "exec \(path) \(arguments)"])
        #expect(try await good.exitCode() == 0)
        #expect(!good.text.isEmpty)
    }

    @Test(
        "A payment is made and its command exits with 0 although messages cannot be written",
        arguments: ["2>/dev/full", "2>&-"]
    )
    func quiet(redirection: String) async throws {
        let system = try await LiveSystem()
        _ = try await system.request("5")
        let pay = "\(GotchuCtl.path) pay --yes --max 5 --socket \(system.payer) \(redirection)"
        let program = try Program("/bin/sh", ["-c", pay])
        #expect(try await program.exitCode() == 0)
        #expect(program.text.contains("Paid $5.00"), "\(program.text)")
        #expect(try await system.requestStates() == ["paid"])
    }

    @Test("A bug report contains no messages if the standard streams are closed")
    func closed() async throws {
        let folder = try TemporaryFolder()
        let report = "\(folder.path)/report"
        let bug = "\(GotchuCtl.path) bugreport \(report) --socket /nonexistent"
        let program = try Program("/bin/sh", ["-c", "exec \(bug) <&- >&- 2>&-"])
        #expect(try await program.exitCode() == 74)
        let text = try String(contentsOfFile: report, encoding: .utf8)
        #expect(text.hasPrefix("== gotchu bug report\n"))
        #expect(!text.contains("Gathering"))
    }
}
