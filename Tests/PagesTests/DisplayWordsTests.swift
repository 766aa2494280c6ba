import GotchuCore
import Testing

@testable import Pages

@Suite("The words of the display")
struct DisplayWordsTests {
    @Test("Headlines and lines do not exceed their limits of length", arguments: Language.allCases)
    func limits(language: Language) {
        let words = language.display
        for state in DisplayState.allCases {
            let copy = words.copy(for: state)
            #expect((1...Copy.headlineLimit).contains(copy.headline.count), "\(state)")
            #expect((1...Copy.lineLimit).contains(copy.line.count), "\(state)")
        }
        for text in [words.left, words.code, words.scan, words.offAir, words.silent, words.tip] {
            #expect((1...Copy.lineLimit).contains(text.count), "\(text)")
        }
    }

    @Test("Each state has a different headline", arguments: Language.allCases)
    func distinct(language: Language) {
        let headlines = DisplayState.allCases.map { language.display.copy(for: $0).headline }
        #expect(Set(headlines).count == headlines.count)
    }

    @Test("The text of a state says that nothing was charged only if that is certain")
    func certainty() {
        for (language, claim) in [
            (.english, "Nothing was charged"), (.german, "Nichts wurde abgebucht"),
            (.arabic, "لم يُخصم أي مبلغ"),
        ] as [(Language, String)] {
            for state in DisplayState.allCases {
                let isCertain = [.released, .expired, .cancelled, .unavailable].contains(state)
                let copy = language.display.copy(for: state)
                #expect(copy.line.contains(claim) == isCertain, "\(language), \(state)")
            }
        }
    }

    @Test(
        "Amounts are formatted as in each language",
        arguments: [
            (.english, 1280, .usd, "$12.80"), (.english, 5, .usd, "$0.05"),
            (.english, 100_000_000, .usd, "$1,000,000.00"), (.english, -1280, .usd, "−$12.80"),
            (.english, 1280, .chf, "CHF\u{A0}12.80"), (.english, 500, .jpy, "¥500"),
            (.english, 1_234_567, .jpy, "¥1,234,567"), (.german, 1280, .eur, "12,80\u{A0}€"),
            (.german, 123_456, .eur, "1.234,56\u{A0}€"), (.german, 0, .jpy, "0\u{A0}¥"),
            (.german, 99, .chf, "0,99\u{A0}CHF"), (.arabic, 1280, .usd, "$12.80"),
            (.english, .max, .usd, "$92,233,720,368,547,758.07"),
            (.english, .min, .jpy, "−¥9,223,372,036,854,775,808"),
        ] as [(Language, Int64, Currency, String)]
    )
    func amounts(language: Language, minorUnits: Int64, currency: Currency, text: String) {
        let money = Money(minorUnits: minorUnits, currency: currency)
        #expect(language.display.money.text(money) == text)
    }

    @Test("A view's text has a second language, or a note in place of it and of the line")
    func texts() {
        var view = DisplayView(.waiting)
        view.amount = TippedAmount(Money(minorUnits: 1280, currency: .eur), tip: nil)
        var text = DisplayText(view, in: [.german, .english])
        #expect(text.amount == "12,80\u{A0}€" && text.headline == "Handy hierher halten")
        #expect(text.second == "Hold your phone here" && text.secondLanguage == .english)
        #expect(text.line == "Wallet-App öffnen" && text.note == nil && text.tip == nil)
        view.isOffAir = true
        #expect(DisplayText(view, in: [.german]).line == "Einen Moment …")
        view.isServerUnresponsive = true
        text = DisplayText(view, in: [.german, .english])
        #expect(text.line == nil && text.second == nil && text.secondLanguage == nil)
        #expect(text.note == "Ihre Zahlung erscheint hier vielleicht etwas später")

        var paid = DisplayView(.paid)
        paid.amount = TippedAmount(Money(minorUnits: 1280), tip: 100)
        text = DisplayText(paid, in: [.english, .german])
        #expect(text.amount == "$12.80" && text.tip == "Tip $1.00")
        #expect(text.second == "Bezahlt · Vielen Dank!")
    }
}
