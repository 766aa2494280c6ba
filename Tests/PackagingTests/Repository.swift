import Foundation
import TestSupport

/// The files of the repository, and commands that run in it.
enum Repository {
    static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    static func path(_ name: String) -> String { root.appendingPathComponent(name).path }

    static func text(_ name: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent(name), encoding: .utf8)
    }

    /// Runs a command in the repository and waits for its end.
    static func run(
        _ command: String...,
        environment: [String: String] = [:]
    ) async throws -> (status: Int32, text: String) {
        let program = try Program(
            "/usr/bin/env",
            ["-C", root.path] + command,
            environment: environment
        )
        let status = try await program.exitCode(within: .seconds(120))
        return (status, program.text)
    }
}
