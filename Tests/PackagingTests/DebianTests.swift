import Foundation
import TestSupport
import Testing

/// Our Debian packages, made of the programs of this build.
@Suite("Debian packages", .serialized)
struct DebianTests {
    /// What cannot be right about programs that are built for development and packed in haste.
    private static let developmentTags = [
        "custom-library-search-path", "uses-no-compression-for-control-tarball",
        "uses-no-compression-for-data-tarball",
    ]

    @Test("lintian has nothing to say against them")
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
        "Packages are installed in a clean root, upgraded with their state, removed and purged",
        .enabled(if: getuid() == 0),
        .timeLimit(.minutes(hangLimit))
    )
    func story() async throws {
        let packages = try await DebianPackages.built()
        let folder = try TemporaryFolder()
        let root = try Program(
            Repository.path("Tests/Debian/root"),
            // What the display stands on is ten times as large as all the rest, and not ours.
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

    @Test("The packages' version is the programs' own")
    func version() throws {
        let changelog = try Repository.text("debian/changelog")
        let code = try Repository.text("Sources/GotchuAPI/GotchuVersion.swift")
        let packaged = try #require(changelog.firstMatch(of: /^gotchu \(([^)]+)\)/)).1
        #expect(try #require(code.firstMatch(of: /current = "([^"]+)"/)).1 == packaged)
    }

    @Test("The build dependencies of a package are those of the programs")
    func buildDependencies() throws {
        let need = try Repository.text(".ci/need")
        let control = try Repository.text("debian/control")
        let libraries = try #require(need.firstMatch(of: /packages_build=\(([^)]*)\)/)).1
            .split(whereSeparator: \.isWhitespace).filter { $0.hasSuffix("-dev") }
        #expect(!libraries.isEmpty)
        for library in libraries { #expect(control.contains(" \(library),\n"), "\(library)") }
    }

    /// The folder that programs of this build take the toolchain's libraries from.
    private func toolchainLibraries() async throws -> String {
        let libraries = try await Repository.run(
            "ldd",
            Program.folder.appendingPathComponent("gotchud").path
        )
        let core = try #require(libraries.text.firstMatch(of: /=> (\S+)\/libswiftCore\.so/))
        return String(core.1)
    }
}
