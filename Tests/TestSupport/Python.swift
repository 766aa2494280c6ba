import Foundation

/// Third-party Python libraries that check our programs, in an environment of the tests.
package enum Python {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// A file of this repository.
    package static func file(_ path: String) -> String { root.appendingPathComponent(path).path }

    /// The interpreter of the environment, which is created at its first use.
    package static func interpreter() async throws -> String {
        let venv = try Program("/bin/bash", [file(".ci/venv")])
        guard try await venv.exitCode(within: .seconds(300)) == 0,
            let path = venv.text.split(separator: "\n").last
        else { throw NeverHappened(description: "Python's packages are there: \(venv.text)") }
        return String(path)
    }

    /// Starts a script of `Tests/Python`.
    package static func run(_ name: String, _ arguments: [String] = []) async throws -> Program {
        try Program(try await interpreter(), [file("Tests/Python/\(name)")] + arguments)
    }
}
