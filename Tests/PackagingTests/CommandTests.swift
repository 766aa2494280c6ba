import TestSupport
import Testing

/// The commands for people and machines.
@Suite("make and .ci")
struct CommandTests {
    @Test("make without a target lists the targets")
    func help() async throws {
        let help = try await Repository.run("make")
        #expect(help.status == 0)
        let targets = [
            "demo", "build", "test", "vm", "browser", "pictures", "bench", "install",
            "install-display", "deb", "format", "lint",
        ]
        for target in targets {
            #expect(help.text.contains("make \(target) "), "\(target)")
        }
    }

    @Test("a failed build shows its whole output and fails")
    func progress() async throws {
        let folder = try TemporaryFolder()
        let failed = try await Repository.run(
            "-C",
            folder.path,
            Repository.path(".ci/progress"),
            "Building",
            "sh",
            "-c",
            "echo '[1/2] step'; echo 'the reason' >&2; exit 3"
        )
        #expect(failed.status == 3)
        #expect(failed.text.contains("the reason"))
        #expect(failed.text.contains("Building: failed"))
    }

    @Test("without swift the script shows how to install it and stops")
    func swiftIsMissing() async throws {
        // An empty folder as the search path: even if this machine has swift, it is not found.
        let folder = try TemporaryFolder()
        let need = try await Repository.run(
            "PATH=\(folder.path)",
            Repository.path(".ci/need"),
            "build"
        )
        #expect(need.status == 69)
        #expect(need.text.contains("https://www.swift.org/install"))
    }
}
