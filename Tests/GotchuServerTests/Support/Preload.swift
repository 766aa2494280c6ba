import Foundation
import TestSupport

/// Libraries that are loaded into a program under test and stand between it and the C library.
enum Preload {
    /// Builds one.
    ///
    /// - Parameters:
    ///   - source: Its source below `Tests`.
    ///   - folder: Where it goes.
    /// - Returns: Its path.
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
