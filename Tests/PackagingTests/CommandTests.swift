import TestSupport
import Testing

/// Tests of the commands that people and CI use.
@Suite("The commands of make and .ci")
struct CommandTests {
    @Test("The command make without a target lists the targets")
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

    @Test("A failed build shows its output and ends with its exit status")
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

    @Test("Without swift, .ci/need shows the address of swift's installer and fails")
    func swiftIsMissing() async throws {
        // The search path is an empty folder, so that a swift on this machine is not found.
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
