import Foundation
import TestSupport
import Testing

@Suite(
    "A question is answered by who has read it",
    .enabled(if: access("/usr/bin/script", X_OK) == 0)
)
struct QuestionTests {
    /// A command on a terminal whose keyboard is the test's.
    private final class Session: Sendable {
        let program: Program
        private let folder: TemporaryFolder
        private let keyboard: Int32

        init(_ command: String) throws {
            folder = try TemporaryFolder()
            let path = "\(folder.path)/keyboard"
            mkfifo(path, 0o600)
            // For reading too: so that neither end waits for the other one to open it.
            keyboard = open(path, O_RDWR | O_CLOEXEC)
            // Typed before there is a question.
            write(keyboard, "y\n", 2)
            let script = "script --quiet --flush --return --command \"$COMMAND\" /dev/null"
            program = try Program(
                "/bin/sh",
                ["-c", "exec \(script) < \(path)"],
                environment: ["TERM": "xterm", "SHELL": "/bin/sh", "COMMAND": command]
            )
        }

        deinit { close(keyboard) }

        func answer(_ text: String) async throws -> Int32 {
            try await eventually("it asks; it said: \(program.text)") {
                program.text.contains("[y/N] ") ? true : nil
            }
            write(keyboard, text, text.utf8.count)
            return try await program.exitCode()
        }
    }

    @Test("Input typed before the amount was shown pays nothing", arguments: ["n", "y"])
    func early(answer: String) async throws {
        let system = try await LiveSystem()
        _ = try await system.request("5")
        // The keyboard is read before the program runs.
        let pay = "\(GotchuCtl.path) pay --socket \(system.payer)"
        let session = try Session("sleep 1; exec \(pay)")
        let code = try await session.answer(answer + "\n")
        #expect(code == (answer == "y" ? 0 : 1), "\(session.program.text)")
        let state = answer == "y" ? "paid" : "advertising"
        try await eventually("it is \(state)") {
            try await system.requestStates() == [state] ? true : nil
        }
    }

    @Test("A question that cannot be seen is not asked")
    func unseen() async throws {
        let system = try await LiveSystem()
        _ = try await system.request("5")
        let pay = "exec \(GotchuCtl.path) pay --socket \(system.payer)"
        let session = try Session("\(pay) 2>/dev/null")
        #expect(try await session.program.exitCode() == 64, "\(session.program.text)")
        #expect(try await system.requestStates() == ["advertising"])
    }
}
