import Foundation
import Testing

@Suite("Declarations")
struct DeclarationTests {
    /// The maximum number of lines of a function, including its signature.
    private static let lengthLimit = 60

    @Test("No function has more than 60 lines")
    func functionLengths() throws {
        for file in try SourceTree("Sources").files {
            for (index, line) in file.lines.enumerated() where Self.isOpening(line) {
                let length = Self.length(ofFunctionAt: index, in: file.lines)
                #expect(length <= Self.lengthLimit, "\(file.path):\(index + 1): \(length) lines")
            }
        }
    }

    /// Returns true for the first line of a function, an initializer, a subscript, a `deinit` or a
    /// computed property.
    private static func isOpening(_ line: String) -> Bool {
        let words = line.split(separator: " ").drop { word in
            word.hasPrefix("@") || modifiers.contains(word.prefix { $0 != "(" })
        }
        guard let word = words.first else { return false }
        return word == "func" || word == "deinit" || (word == "var" && line.hasSuffix("{"))
            || ["init(", "init?(", "init<", "subscript("].contains { word.hasPrefix($0) }
    }

    private static let modifiers: Set<Substring> = [
        "borrowing", "class", "consuming", "convenience", "fileprivate", "final", "internal",
        "isolated", "lazy", "mutating", "nonisolated", "nonmutating", "override", "package",
        "private", "public", "required", "static",
    ]

    /// Returns the number of lines up to the closing brace, which has the same indentation as the
    /// function. A requirement of a protocol has no brace, and counts as one line.
    private static func length(ofFunctionAt first: Int, in lines: [String]) -> Int {
        let indent = lines[first].prefix { $0 == " " }
        guard !lines[first].hasSuffix("}") else { return 1 }
        for index in lines.indices[(first + 1)...] {
            let line = lines[index]
            if line.hasPrefix(indent + "}") { return index - first + 1 }
            if !line.isEmpty, !line.hasPrefix(indent) { break }
        }
        return 1
    }

    /// Names of members that satisfy requirements of other packages and the standard library.
    private static let witnesses: Set = [
        "appendInterpolation", "appendLiteral", "checkIsolated", "configuration", "coreContext",
        "description", "enqueue", "isIsolatingCurrentContext", "makeAsyncIterator",
        "maxUploadSize", "unownedExecutor",
    ]

    @Test(
        "Each `package` name occurs in another module, a `package` signature or a protocol"
    )
    func packageDeclarations() throws {
        let files = try SourceTree("Sources").files
        let code = Dictionary(grouping: files, by: \.module).mapValues { files in
            files.map(CodeText.init)
        }
        let importers = Dictionary(grouping: files, by: \.module)
            .mapValues { $0.reduce(into: Set<String>()) { $0.formUnion($1.imports) } }
        let required = code.values.joined().reduce(into: Self.witnesses) {
            $0.formUnion($1.namedByProtocols)
        }
        for (module, texts) in code {
            var named = required
            for (other, itsTexts) in code where importers[other]?.contains(module) == true {
                for text in itsTexts { named.formUnion(text.words) }
            }
            for text in texts { named.formUnion(text.namedBySignatures) }
            for text in texts {
                for (name, line) in text.declared where !named.contains(name) {
                    Issue.record("\(text.path):\(line): nothing outside names \(name)")
                }
            }
        }
    }
}

/// The words of one file's code, without its comments.
private struct CodeText {
    let path: String
    private(set) var words: Set<String> = []
    /// The names declared with the modifier `package`, with their lines.
    private(set) var declared: [(name: String, line: Int)] = []
    /// The names in the signatures of `package` declarations and in enum cases.
    private(set) var namedBySignatures: Set<String> = []
    /// The names of protocol requirements; types in any module may implement them.
    private(set) var namedByProtocols: Set<String> = []

    init(_ file: SourceTree.File) {
        path = file.path
        var isInSignature = false
        var isInProtocol = false
        for (index, line) in file.lines.enumerated() {
            let code = line.components(separatedBy: "//")[0]
            let itsWords = code.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map(String.init)
            words.formUnion(itsWords)
            if code.hasPrefix("package protocol ") || code.hasPrefix("protocol ") {
                isInProtocol = true
            }
            let name = Self.declaredName(itsWords)
            if let name { declared.append((name, index + 1)) }
            let isCase =
                itsWords.first { $0 != "indirect" } == "case" && !code.contains(".")
                && !code.hasSuffix(":")
            isInSignature = isInSignature || isCase || itsWords.contains("package")
            if isInProtocol {
                namedByProtocols.formUnion(itsWords)
            } else if isInSignature {
                namedBySignatures.formUnion(itsWords.filter { $0 != name })
            }
            // A signature ends at the end of its line, unless a parenthesis is still open.
            if isInSignature {
                openParentheses += code.count { $0 == "(" } - code.count { $0 == ")" }
                isInSignature = openParentheses > 0
                if !isInSignature { openParentheses = 0 }
            }
            if isInProtocol, code.hasPrefix("}") { isInProtocol = false }
        }
    }

    private var openParentheses = 0

    private static let introducers: Set = [
        "func", "var", "let", "struct", "class", "enum", "actor", "protocol", "typealias",
    ]

    /// Returns the name that a line declares, or `nil`.
    private static func declaredName(_ words: [String]) -> String? {
        guard let index = words.firstIndex(where: introducers.contains), index + 1 < words.count,
            words[..<index].contains("package")
        else { return nil }
        return words[index + 1]
    }
}
