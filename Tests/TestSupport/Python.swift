import Foundation

/// The tests' Python environment, whose third-party libraries check our programs.
package enum Python {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// Returns the path of a file of this repository.
    package static func file(_ path: String) -> String { root.appendingPathComponent(path).path }

    /// Returns the path of the environment's interpreter. The first call creates the environment.
    package static func interpreter() async throws -> String {
        let venv = try Program("/bin/bash", [file(".ci/venv")])
        guard try await venv.exitCode(within: .seconds(300)) == 0,
            let path = venv.text.split(separator: "\n").last
        else { throw NeverHappened(description: "Python's packages are installed: \(venv.text)") }
        return String(path)
    }

    /// Starts a script of `Tests/Python`.
    package static func run(_ name: String, _ arguments: [String] = []) async throws -> Program {
        try Program(try await interpreter(), [file("Tests/Python/\(name)")] + arguments)
    }
}
