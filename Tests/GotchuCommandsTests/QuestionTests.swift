import Foundation
import TestSupport
import Testing

@Suite(
    "A question is answered only after it was shown",
    .enabled(if: access("/usr/bin/script", X_OK) == 0)
)
struct QuestionTests {
    @Test("Input that is typed before the question does not answer it", arguments: ["n", "y"])
    func early(answer: String) async throws {
        let system = try await LiveSystem()
        _ = try await system.request("5")
        // The terminal receives the early input before the program runs.
        let pay = "\(GotchuCtl.path) pay --socket \(system.payer)"
        let session = try TerminalSession("sleep 1; exec \(pay)")
        let code = try await session.answer(answer + "\n")
        #expect(code == (answer == "y" ? 0 : 1), "\(session.program.text)")
        let state = answer == "y" ? "paid" : "advertising"
        try await eventually("the request is \(state)") {
            try await system.requestStates() == [state] ? true : nil
        }
    }

    @Test("A payment whose question cannot be shown exits with 64 and pays nothing")
    func unseen() async throws {
        let system = try await LiveSystem()
        _ = try await system.request("5")
        let pay = "exec \(GotchuCtl.path) pay --socket \(system.payer)"
        let session = try TerminalSession("\(pay) 2>/dev/null")
        #expect(try await session.program.exitCode() == 64, "\(session.program.text)")
        #expect(try await system.requestStates() == ["advertising"])
    }
}
