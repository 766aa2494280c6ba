import Foundation
import Testing

@Suite("Language")
struct LanguageTests {
    /// Folders whose comments are still to be rewritten. Empty once everything is merged.
    private static let exempt = [
        "Sources/Radio/", "Sources/BlueZ/", "Sources/DBus/", "Sources/GotchuDaemon/",
        "Sources/LocalAPI/", "Sources/GotchuCore/Payment/PaymentFlow",
    ]

    /// Words that no doc comment begins with: a noun or a verb in the third person does better.
    private static let questionWords: Set = [
        "as", "because", "how", "however", "if", "of", "since", "so", "that", "unless", "until",
        "what", "whatever", "when", "whenever", "where", "wherever", "whether", "which",
        "whichever", "while", "who", "whoever", "whom", "whose", "why",
    ]

    @Test("a doc comment begins with a noun or a verb, not with a question word")
    func firstWords() throws {
        for file in try SourceTree("Sources").files(but: Self.exempt) {
            var isInside = false
            for (index, line) in file.lines.enumerated() {
                let text = line.drop { $0 == " " }
                defer { isInside = text.hasPrefix("///") }
                guard text.hasPrefix("/// "), !isInside else { continue }
                let word = text.dropFirst(4).prefix { $0.isLetter }.lowercased()
                #expect(
                    !Self.questionWords.contains(word),
                    "\(file.path):\(index + 1) begins with \(word)"
                )
            }
        }
    }

    @Test("comments call users, readers and callers they, or by their role")
    func pronouns() throws {
        for file in try SourceTree("Sources", "Tests").files(but: Self.exempt)
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
