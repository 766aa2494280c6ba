package import Foundation

/// The Debian packages of the programs that were built with these tests.
///
/// The packages are built once for all tests, without compression. Unlike the release's packages,
/// they need the toolchain's libraries.
package struct DebianPackages: Sendable {
    /// The folder of the packages.
    package let folder: URL
    /// The packages `gotchu`, `gotchu-server` and `gotchu-display`, in this order.
    package let files: [String]

    /// Builds the packages, unless they are up to date.
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
