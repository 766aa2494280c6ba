import Foundation
import Testing

@Suite("Secrets")
struct SecretTests {
    /// The forms of secrets, as their issuers document them.
    private static var forms: [(name: String, form: Regex<Substring>)] {
        [
            ("a private key", /-----BEGIN [A-Z ]*PRIVATE KEY/),
            ("a Stripe key", /\b[rs]k_live_[A-Za-z0-9]{10,}/),
            ("a webhook secret", /\bwhsec_[A-Za-z0-9+\/]{20,}/),
            ("an AWS key", /\bA[KS]IA[A-Z0-9]{16}\b/),
            ("a GitHub token", /\bgh[opsur]_[A-Za-z0-9]{30,}/),
            ("a GitHub token", /\bgithub_pat_[A-Za-z0-9_]{30,}/),
            ("a Slack token", /\bxox[abprs]-[A-Za-z0-9-]{10,}/),
            ("a JSON Web Token", /\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\./),
        ]
    }

    /// Substrings of secrets. Every secret contains at least one, so other files are skipped.
    private static let marks = [
        "PRIVATE KEY", "k_live_", "whsec_", "KIA", "SIA", "ghp_", "gho_", "ghs_", "ghu_", "ghr_",
        "github_pat_", "xox", "eyJ",
    ]

    /// Files that contain such values on purpose; they are not real secrets.
    private static let fixtures: Set = [
        "Tests/GotchuCoreTests/RedactorTests.swift",
        "Tests/GotchuDaemonTests/ConfigurationTests.swift",
    ]

    private static let hasRepository = FileManager.default.fileExists(
        atPath: SourceTree.root.appendingPathComponent(".git").path
    )

    @Test("No committed file contains a secret of a known form", .enabled(if: hasRepository))
    func committedFiles() throws {
        let paths = try committedPaths()
        #expect(paths.contains("Package.swift"))
        for path in paths where !Self.fixtures.contains(path) {
            let file = SourceTree.root.appendingPathComponent(path)
            // A broken link, or a file that is deleted in the working tree, cannot be read.
            guard let data = try? Data(contentsOf: file) else { continue }
            for name in Self.secrets(in: data) {
                Issue.record("\(path) holds \(name)")
            }
        }
    }

    @Test(
        "Each form of a secret is found in a text",
        arguments: [
            "-----BEGIN ?EC PRIVATE KEY-----", "key = 'sk_?live_51Habcdefghijk'",
            "whsec_?MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "AKIA?IOSFODNN7EXAMPLE",
            "ghp_?0123456789abcdefghijABCDEFGHIJ012345",
            "github_pat_?0123456789abcdefghijABCDEFGHIJ012345", "xoxb-?0123456789-abcdef",
            "Bearer eyJ?hbGciOiJIUzI1NiJ9.eyJzdWIiOiJ1c2VyLTEifQ.c2ln",
        ]
    )
    func found(text: String) {
        #expect(Self.secrets(in: Data(text.utf8)).isEmpty)
        let secret = text.replacingOccurrences(of: "?", with: "")
        #expect(!Self.secrets(in: Data(secret.utf8)).isEmpty)
    }

    private static func secrets(in data: Data) -> [String] {
        guard marks.contains(where: { data.range(of: Data($0.utf8)) != nil }) else { return [] }
        let text = String(decoding: data, as: UTF8.self)
        return forms.filter { text.firstMatch(of: $0.form) != nil }.map(\.name)
    }

    private func committedPaths() throws -> [String] {
        let git = Process()
        git.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        git.arguments = [
            "git", "-c", "safe.directory=*", "-C", SourceTree.root.path, "ls-files", "-z",
        ]
        let output = Pipe()
        git.standardOutput = output
        try git.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        git.waitUntilExit()
        #expect(git.terminationStatus == 0)
        return String(decoding: data, as: UTF8.self).split(separator: "\0").map(String.init)
    }
}
