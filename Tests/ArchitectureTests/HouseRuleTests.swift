import Foundation
import Testing

@Suite("House rules")
struct HouseRuleTests {
    @Test("No file has more than 400 lines, and no line has more than 100 columns")
    func sizes() throws {
        for file in try SourceTree("Sources", "Tests").files {
            #expect(file.lines.count <= 401, "\(file.path): \(file.lines.count) lines")
            for (number, line) in file.lines.enumerated() where line.count > 100 {
                Issue.record("\(file.path):\(number + 1) has \(line.count) columns")
            }
        }
    }

    /// Constructs that need a `SAFETY:` comment with their reason, on the same line or the line
    /// above. A task's comment names its owner.
    private static let needReason = [
        "try!", "as! ", "@unchecked Sendable", "nonisolated(unsafe)", "fatalError(",
    ]

    @Test("A forbidden construct occurs only with a comment that gives the reason")
    func constructs() throws {
        for file in try SourceTree("Sources", "Tests").files
        where file.module != "ArchitectureTests" {
            for (index, line) in file.lines.enumerated() {
                let code = line.components(separatedBy: "//")[0]
                let hasReason =
                    line.contains("SAFETY:")
                    || (index > 0 && file.lines[index - 1].contains("SAFETY:"))
                for construct in Self.needReason where code.contains(construct) && !hasReason {
                    Issue.record("\(file.path):\(index + 1): \(construct) without // SAFETY:")
                }
                if !hasReason, code.contains("Task"),
                    code.firstMatch(of: /\bTask(\.detached|\.immediate)?(\(.*\))? \{/) != nil
                {
                    Issue.record("\(file.path):\(index + 1): a task without its owner")
                }
                for mark in ["TODO", "FIXME", "XXX"] where line.contains(mark) {
                    Issue.record("\(file.path):\(index + 1): \(mark)")
                }
                if file.path.hasPrefix("Sources/"), code.contains("print("),
                    code.contains(/\bprint\(/)
                {
                    Issue.record("\(file.path):\(index + 1): print")
                }
            }
        }
    }

    @Test("A test sleeps only if a comment gives the reason")
    func noSleeps() throws {
        for file in try SourceTree("Tests").files where file.module != "ArchitectureTests" {
            for (index, line) in file.lines.enumerated() {
                let isSleep = line.contains("Task.sleep") || line.contains("usleep(")
                let above = index > 0 ? file.lines[index - 1] : ""
                #expect(
                    !isSleep || above.contains("SAFETY:") || line.contains("SAFETY:"),
                    "\(file.path):\(index + 1)"
                )
            }
        }
    }

    @Test("The top folder contains only the planned folders and files")
    func topLevel() throws {
        let allowed: Set = [
            "Package.swift", "Sources", "Tests", "systemd", "dbus-policy", "README.md", "Makefile",
            "Benchmarks", "docs", "debian", "LICENSE", "Package.resolved", "out",
        ]
        let names = try FileManager.default.contentsOfDirectory(atPath: SourceTree.root.path)
        #expect(Set(names.filter { !$0.hasPrefix(".") }).subtracting(allowed).isEmpty)
    }
}
