import Foundation
import TestSupport
import Testing

@Suite("A token that is typed")
struct HiddenInputTests {
    private struct Report: Decodable {
        let isRestored: Bool
        let isStopped: Bool
        let isRestoredAgain: Bool?
        let endedBy: Int32
    }

    private static let keyC = 3
    private static let keyZ = 26
    private static let keyBackslash = 28

    @Test(
        "The terminal's echo is restored after any signal that ends or stops the login prompt",
        arguments: [
            ("signal", Int(SIGTERM), SIGTERM), ("signal", Int(SIGHUP), SIGHUP),
            ("signal", Int(SIGQUIT), SIGQUIT), ("signal", Int(SIGINT), SIGINT),
            ("signal", Int(SIGTSTP), SIGTSTP), ("key", keyC, SIGINT), ("key", keyZ, SIGTSTP),
            ("key", keyBackslash, SIGQUIT),
        ]
    )
    func restored(means: String, number: Int, signal: Int32) async throws {
        let binary = Program.folder.appendingPathComponent("gotchu-ctl").path
        let program = try await Python.run("hidden_input.py", [binary, means, "\(number)"])
        #expect(try await program.exitCode() == 0, "\(program.text)")
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let report = try decoder.decode(Report.self, from: Data(program.text.utf8))
        #expect(report.isRestored)
        #expect(report.isStopped == (signal == SIGTSTP))
        #expect(report.isRestoredAgain == (signal == SIGTSTP ? true : nil))
        #expect(report.endedBy == (signal == SIGTSTP ? SIGTERM : signal))
    }
}
