import Foundation
import TestSupport
import Testing

@Suite("Output that cannot be written changes only the exit status")
struct UnwritableTests {
    @Test(
        "Data that cannot be written is reported with 74",
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
        "Output of any program that cannot be written is a failure",
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

    @Test("Messages that cannot be written change nothing", arguments: ["2>/dev/full", "2>&-"])
    func quiet(redirection: String) async throws {
        let system = try await LiveSystem()
        _ = try await system.request("5")
        let pay = "\(GotchuCtl.path) pay --yes --max 5 --socket \(system.payer) \(redirection)"
        let program = try Program("/bin/sh", ["-c", pay])
        #expect(try await program.exitCode() == 0)
        #expect(program.text.contains("Paid $5.00"), "\(program.text)")
        #expect(try await system.requestStates() == ["paid"])
    }

    @Test("The number of a closed stream is not reused for another file")
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
