import Foundation
import Testing

/// The package's own Swift files, as text.
struct SourceTree {
    let files: [File]

    struct File {
        /// The path from the package's root: `Sources/GotchuCore/Values/EID.swift`.
        let path: String
        let lines: [String]

        /// The module or test target of the file.
        var module: String { String(path.split(separator: "/")[1]) }

        var imports: Set<String> {
            Set(
                lines.compactMap { line in
                    let words = line.split(separator: " ")
                    guard let index = words.firstIndex(of: "import"), index <= 2 else { return nil }
                    return words.last.map { String($0.split(separator: ".")[0]) }
                }
            )
        }
    }

    static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    init(_ folders: String...) throws {
        files = try folders.flatMap { folder -> [File] in
            let base = Self.root.appendingPathComponent(folder)
            let names =
                FileManager.default.enumerator(atPath: base.path)?
                .compactMap { $0 as? String }.filter { $0.hasSuffix(".swift") } ?? []
            // Without files, every rule would be true.
            try #require(!names.isEmpty, "\(folder) has no Swift files")
            return try names.map { name in
                let text = try String(
                    contentsOf: base.appendingPathComponent(name),
                    encoding: .utf8
                )
                return File(path: "\(folder)/\(name)", lines: text.components(separatedBy: "\n"))
            }
        }
    }
}
