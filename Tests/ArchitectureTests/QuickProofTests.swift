import Foundation
import Testing

/// The table of promises in `docs/testing.md`, from which `.ci/test` takes the quick proof. The
/// proof also fails if no test of a name has run.
@Suite("The quick proof")
struct QuickProofTests {
    private static func text(_ path: String) throws -> String {
        try String(contentsOf: SourceTree.root.appendingPathComponent(path), encoding: .utf8)
    }

    /// Returns the names in the second column of the table, by the promise in the first.
    private static func rows() throws -> [String: [String]] {
        let page = try text("docs/testing.md")
        let section = try #require(
            page.components(separatedBy: "\n## The quick proof\n").dropFirst().first
        )
        let lines = section.components(separatedBy: "\n## ")[0].matches(
            of: /\n\|([^|\n]+)\|([^|\n]+)\|/
        )
        return Dictionary(
            lines.map { line in
                (
                    line.output.1.trimmingCharacters(in: .whitespaces),
                    line.output.2.matches(of: /`([^`]+)`/).map { String($0.output.1) }
                )
            },
            uniquingKeysWith: +
        )
    }

    @Test("Each promise of security.md has a row with a quick test")
    func promises() throws {
        let page = try Self.text("docs/security.md")
        let promised = try #require(
            page.components(separatedBy: "\n## What is promised\n").dropFirst().first
        ).components(separatedBy: "\n## ")[0]
        let names = promised.matches(of: /\n\* \*\*([^*]+?)\.?\*\*/).map { String($0.output.1) }
        #expect(names.count >= 13)
        let rows = try Self.rows()
        for name in names {
            #expect(rows[name]?.isEmpty == false, "\(name) has no quick test")
        }
    }

    @Test("Each name of the table is that of a test target, a suite, a test or a story")
    func names() throws {
        let files = try SourceTree("Tests").files.map {
            ($0.path, $0.lines.joined(separator: "\n"))
        }
        for name in try Self.rows().values.joined() {
            if let story = name.wholeMatch(of: /make (vm|browser) STORY="?([\w ]+)"?/) {
                let list = story.output.1 == "vm" ? "VM/Scenario.swift" : "Browser/Story.swift"
                let text = try Self.text("Tests/\(list)")
                // A case of the list has no associated values and no text after it.
                let stories = text.matches(of: /\bcase ((?:\w+,\s+)*\w+)\n/)
                    .flatMap { $0.output.1.matches(of: /\w+/).map { String($0.output) } }
                for story in story.output.2.split(separator: " ") {
                    #expect(stories.contains(String(story)), "\(name)")
                }
                continue
            }
            let parts = name.split { "./".contains($0) }
            let (target, suite, test) = (
                parts[0], parts.dropFirst().first, parts.dropFirst(2).first
            )
            let found = files.contains { path, text in
                path.hasPrefix("Tests/\(target)/")
                    && (suite.map { text.contains("struct \($0) ") } ?? true)
                    && (test.map { text.contains("func \($0)(") } ?? true)
            }
            #expect(found, "\(name)")
        }
    }
}
