import Foundation
import Testing

@Suite("Language")
struct LanguageTests {
    /// Words that no doc comment may begin with: use a noun or a verb in the third person.
    private static let questionWords: Set = [
        "as", "because", "how", "however", "if", "of", "since", "so", "that", "unless", "until",
        "what", "whatever", "when", "whenever", "where", "wherever", "whether", "which",
        "whichever", "while", "who", "whoever", "whom", "whose", "why",
    ]

    @Test("No doc comment begins with a question word or a conjunction")
    func firstWords() throws {
        for file in try SourceTree("Sources").files {
            var isInside = false
            for (index, line) in file.lines.enumerated() {
                let text = line.drop { $0 == " " }
                defer { isInside = text.hasPrefix("///") }
                guard text.hasPrefix("/// ") else { continue }
                // The texts after `Parameter` and `Returns` are checked too.
                let field = text.prefixMatch(
                    of: /\/\/\/( - (Returns|Parameter \w+)|   - \w+): +/
                )
                guard !isInside || field != nil else { continue }
                let start = field?.range.upperBound ?? text.index(text.startIndex, offsetBy: 4)
                let word = text[start...].prefix { $0.isLetter }.lowercased()
                #expect(
                    !Self.questionWords.contains(word),
                    "\(file.path):\(index + 1) begins with \(word)"
                )
            }
        }
    }

    /// Words at the start of a title that has no subject.
    private static let verbs: Set = [
        "are", "can", "comes", "ends", "gets", "gives", "has", "have", "is", "it", "says", "takes",
        "tells",
    ]

    @Test("No title of a test begins with one of certain verbs, question words or conjunctions")
    func titles() throws {
        for file in try SourceTree("Tests").files {
            for (index, line) in file.lines.enumerated() {
                let isTitle = index > 0 && file.lines[index - 1].hasSuffix("@Test(")
                let mark = isTitle ? "\"" : "@Test(\""
                guard let start = line.range(of: mark) else { continue }
                let word = line[start.upperBound...].prefix { $0.isLetter }.lowercased()
                #expect(
                    !Self.questionWords.union(Self.verbs).subtracting(["if"]).contains(word),
                    "\(file.path):\(index + 1) begins with \(word)"
                )
            }
        }
    }

    @Test("No comment contains the pronouns he, his, him and himself")
    func pronouns() throws {
        for file in try SourceTree("Sources", "Tests").files
        where file.module != "ArchitectureTests" {
            for (index, line) in file.lines.enumerated() {
                guard let start = line.range(of: "//")?.upperBound else { continue }
                let words = line[start...].lowercased().split { !$0.isLetter }
                #expect(
                    !words.contains { ["he", "his", "him", "himself"].contains($0) },
                    "\(file.path):\(index + 1)"
                )
            }
        }
    }
}
