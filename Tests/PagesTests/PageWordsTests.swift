import GotchuCore
import Testing

@testable import Pages

@Suite("The words of the server's pages")
struct PageWordsTests {
    /// Returns all texts of a language by their names.
    private func texts(in language: Language) -> [String: String] {
        var texts: [String: String] = [:]
        for words in [language.layout, language.pay, language.wallet] as [any Sendable] {
            for child in Mirror(reflecting: words).children {
                let name = "\(type(of: words)).\(child.label ?? "")"
                let list = (child.value as? [String]) ?? [child.value as? String ?? ""]
                for (index, text) in list.enumerated() { texts["\(name) \(index)"] = text }
            }
        }
        return texts
    }

    /// Texts that may be the same as in English.
    private static let shared: Set = ["Webhooks", "Wallet", "Code", "{} {} {}"]

    @Test("Every text has as many blanks `{}` as in English", arguments: Language.allCases)
    func blanks(language: Language) {
        let english = texts(in: .english)
        let texts = texts(in: language)
        #expect(Set(texts.keys) == Set(english.keys) && texts.count > 150)
        for (name, text) in texts {
            #expect(!text.isEmpty, "\(name)")
            let count = text.ranges(of: "{}").count
            #expect(count == english[name]?.ranges(of: "{}").count, "\(name): \(text)")
        }
    }

    @Test(
        "No text equals the English text, except shared words and short months",
        arguments: [Language.german, .arabic]
    )
    func translated(language: Language) {
        let english = texts(in: .english)
        for (name, text) in texts(in: language) where !Self.shared.contains(text) {
            // German and English have the same abbreviations of some months.
            let isShort = text.count <= 4 && name.contains(".months")
            #expect(isShort || text != english[name], "\(name)")
        }
    }

    @Test("A text says that nothing was charged if and only if the English text does")
    func certainty() {
        let english = texts(in: .english)
        for (language, claims) in [
            (.german, ["Nichts wurde abgebucht", "wurde nichts abgebucht"]),
            (.arabic, ["لم يُخصم", "لم تخصم"]),
        ] as [(Language, [String])] {
            for (name, text) in texts(in: language) {
                let english = english[name] ?? ""
                let isCertain = ["othing was charged", "not charged", "charged nothing"]
                    .contains { english.contains($0) }
                #expect(claims.contains { text.contains($0) } == isCertain, "\(name): \(text)")
            }
        }
    }

    @Test("A blank is filled with a value unchanged, even if the value is `{}`")
    func filled() {
        #expect("{} of {}".filled("1", "{}") == "1 of {}")
        #expect("{}".filled("a") == "a" && "b".filled() == "b")
    }

    @Test("An amount in a right-to-left text is isolated, so that its sign stays in place")
    func isolated() {
        let debit = Money(minorUnits: -1280)
        #expect(Language.arabic.text(debit) == "\u{2066}\u{2212}$12.80\u{2069}")
        #expect(Language.german.text(debit) == "\u{2212}12,80\u{A0}$")
        #expect(Language.english.text(Money(minorUnits: 5), isAdded: true) == "+$0.05")
        #expect(Language.arabic.text(Money(minorUnits: 5), isAdded: true).contains("+$0.05"))
    }
}
