package import Foundation

/// The Debian packages of the programs that were built with these tests.
///
/// Made once for all tests, without compression: they are as the release's but for their size and
/// for the toolchain's libraries, which they need.
package struct DebianPackages: Sendable {
    /// Where they lie.
    package let folder: URL
    /// `gotchu`, `gotchu-server`, then `gotchu-display`.
    package let files: [String]

    /// Makes them, unless those that are there are still right.
    package static func built() async throws -> DebianPackages {
        let root = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let folder = root.appendingPathComponent(".build/deb-tests")
        let maker = try Program(
            root.appendingPathComponent(".ci/deb").path,
            ["--development", Program.folder.path, folder.path]
        )
        let status = try await maker.exitCode(within: .seconds(300))
        guard status == 0 else { throw NeverHappened(description: maker.text) }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        let files = ["gotchu_", "gotchu-server_", "gotchu-display_"].compactMap { prefix in
            names.first { $0.hasPrefix(prefix) && $0.hasSuffix(".deb") }
        }.map { folder.appendingPathComponent($0).path }
        guard files.count == 3 else { throw NeverHappened(description: "\(names)") }
        return DebianPackages(folder: folder, files: files)
    }
}
