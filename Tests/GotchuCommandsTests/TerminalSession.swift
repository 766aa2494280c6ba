import Foundation
import TestSupport

/// A command that runs on a terminal. The test types the input.
final class TerminalSession: Sendable {
    let program: Program
    private let folder: TemporaryFolder
    private let keyboard: Int32

    init(_ command: String) throws {
        folder = try TemporaryFolder()
        let path = "\(folder.path)/keyboard"
        mkfifo(path, 0o600)
        // The pipe is opened for reading too, so that opening it does not block.
        keyboard = open(path, O_RDWR | O_CLOEXEC)
        // This input comes before any question, so the command must ignore it.
        write(keyboard, "y\n", 2)
        let script = "script --quiet --flush --return --command \"$COMMAND\" /dev/null"
        program = try Program(
            "/bin/sh",
            ["-c", "exec \(script) < \(path)"],
            environment: [
                "TERM": "xterm", "SHELL": "/bin/sh", "NO_COLOR": "1", "COMMAND": command,
            ]
        )
    }

    deinit { close(keyboard) }

    /// Types a line when the program has shown a question.
    func type(_ text: String, after question: String) async throws {
        try await eventually("the program asks \(question); it said: \(program.text)") {
            program.text.contains(question) ? true : nil
        }
        write(keyboard, text, text.utf8.count)
    }

    /// Answers the program's question that ends with `[y/N]`.
    ///
    /// - Returns: The program's exit code.
    func answer(_ text: String) async throws -> Int32 {
        try await type(text, after: "[y/N] ")
        return try await program.exitCode()
    }
}
