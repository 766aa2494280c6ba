import Foundation
import TestSupport

/// Libraries that are preloaded into a tested program and intercept its calls to the C library.
enum Preload {
    /// Builds a library.
    ///
    /// - Parameters:
    ///   - source: The path of its source file below `Tests`.
    ///   - folder: The folder for the library.
    /// - Returns: The path of the library.
    static func library(_ source: String, in folder: TemporaryFolder) async throws -> String {
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let library = "\(folder.path)/\(source.split(separator: "/").last ?? "").so"
        let compiler = try Program(
            "/usr/bin/env",
            [
                "clang", "-shared", "-fPIC", "-O1", "-o", library,
                tests.appendingPathComponent(source).path, "-ldl", "-lpthread",
            ]
        )
        guard try await compiler.exitCode() == 0 else {
            throw NeverHappened(description: "the library is built: \(compiler.text)")
        }
        return library
    }
}
