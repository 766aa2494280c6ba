import Foundation
import TestSupport
import Testing

/// Tests of our Debian packages, which contain the programs of this build.
@Suite("Debian packages", .serialized)
struct DebianTests {
    /// Lintian tags that development builds cannot avoid.
    private static let developmentTags = [
        "custom-library-search-path", "uses-no-compression-for-control-tarball",
        "uses-no-compression-for-data-tarball",
    ]

    @Test("The tool lintian reports nothing about the packages")
    func lintian() async throws {
        let packages = try await DebianPackages.built()
        let verdict = try await Repository.run(
            "lintian",
            "--allow-root",
            "--fail-on=error,warning",
            "--suppress-tags=\(Self.developmentTags.joined(separator: ","))",
            packages.files[0],
            packages.files[1],
            packages.files[2]
        )
        #expect(verdict.status == 0, "\(verdict.text)")
        #expect(verdict.text == "")
    }

    @Test(
        "Packages can be installed in a clean root, upgraded with their state, removed and purged",
        .enabled(if: getuid() == 0)
    )
    func story() async throws {
        let packages = try await DebianPackages.built()
        let folder = try TemporaryFolder()
        let root = try Program(
            Repository.path("Tests/Debian/root"),
            // Without gotchu-display, whose dependencies are ten times as large as the others.
            [Repository.path(".build/clean-root")] + packages.files.prefix(2)
        )
        try #require(try await root.exitCode(within: .seconds(400)) == 0, "\(root.text)")
        let archive = try #require(root.text.split(separator: "\n").last.map(String.init))
        let story = try Program(
            Repository.path("Tests/Debian/story"),
            [archive, try await toolchainLibraries(), folder.path] + packages.files
        )
        let status = try await story.exitCode(within: .seconds(240))
        #expect(status == 0, "\(story.text)")
        let steps = ["install", "run", "upgrade", "remove", "purge"]
        #expect(story.text == steps.map { "passed: \($0)\n" }.joined(), "\(story.text)")
    }

    @Test("The version in the changelog of the packages is the version of the programs")
    func version() throws {
        let changelog = try Repository.text("debian/changelog")
        let code = try Repository.text("Sources/GotchuAPI/GotchuVersion.swift")
        let packaged = try #require(changelog.firstMatch(of: /^gotchu \(([^)]+)\)/)).1
        #expect(try #require(code.firstMatch(of: /current = "([^"]+)"/)).1 == packaged)
    }

    @Test("Each library that the programs need to build is a build dependency of the packages")
    func buildDependencies() throws {
        let need = try Repository.text(".ci/need")
        let control = try Repository.text("debian/control")
        let libraries = try #require(need.firstMatch(of: /packages_build=\(([^)]*)\)/)).1
            .split(whereSeparator: \.isWhitespace).filter { $0.hasSuffix("-dev") }
        #expect(!libraries.isEmpty)
        for library in libraries { #expect(control.contains(" \(library),\n"), "\(library)") }
    }

    /// Returns the folder of the toolchain's libraries, which the programs of this build need.
    private func toolchainLibraries() async throws -> String {
        let libraries = try await Repository.run(
            "ldd",
            Program.folder.appendingPathComponent("gotchud").path
        )
        let core = try #require(libraries.text.firstMatch(of: /=> (\S+)\/libswiftCore\.so/))
        return String(core.1)
    }
}
