import Foundation
import GotchuAPI
import GotchuCore
import Pages

/// The views for the tests of the display's page: all states, with gotchud's own texts.
struct Views: Sendable {
    /// A view, with the name of its scene.
    struct Named: Encodable {
        var scene: String
        var state: DisplayState
        var view: DisplayReply
    }

    /// The variable content of the views: languages, amounts and names.
    private struct Scene {
        var name: String
        var languages: [Language]
        var amount: Money
        var tip: Int64 = 0
        var shop = "Corner Cafe"
        var memo = "2 flat whites, 1 croissant"
        var isServerUnresponsive = false
    }

    private static let million = 100_000_000 as Int64

    private static let scenes: [Scene] =
        Language.allCases.map { language in
            Scene(
                name: language.rawValue,
                languages: [language],
                amount: Money(minorUnits: 1_280, currency: language == .german ? .eur : .usd)
            )
        } + [
            Scene(
                name: "english-arabic",
                languages: [.english, .arabic],
                amount: Money(minorUnits: 1, currency: .jpy)
            ),
            Scene(
                name: "arabic-english",
                languages: [.arabic, .english],
                amount: Money(minorUnits: million, currency: .usd),
                shop: longShop,
                memo: longMemo
            ),
            Scene(
                name: "german-english",
                languages: [.german, .english],
                amount: Money(minorUnits: million, currency: .chf),
                tip: million / 10,
                shop: longShop,
                memo: longMemo
            ),
            Scene(
                name: "german-silent",
                languages: [.german, .english],
                amount: Money(minorUnits: 123_456, currency: .eur),
                isServerUnresponsive: true
            ),
        ]

    private static let longShop = "Zur Donaudampfschifffahrtsgesellschaft 1"
    private static let longMemo = String(
        repeating: "Käsespätzle mit Röstzwiebeln und Gurkensalat, ",
        count: 4
    ).prefix(140).description

    /// Writes a JSON line for each scene and state.
    static func write(to file: URL) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let lines = try scenes.flatMap { scene in
            try DisplayState.allCases.map { state in
                try encoder.encode(named(scene, state)) + Data("\n".utf8)
            }
        }
        try Data(lines.joined()).write(to: file)
    }

    private static func named(_ scene: Scene, _ state: DisplayState) -> Named {
        let isResting = state == .idle || state == .closed
        var view = DisplayView(state)
        view.amount = isResting ? nil : TippedAmount(scene.amount, tip: scene.tip)
        view.memo = state.isAwaitingPayment ? scene.memo : nil
        view.isServerUnresponsive = state.isAwaitingPayment && scene.isServerUnresponsive
        let text = DisplayText(view, in: scene.languages)
        var reply = DisplayReply(
            build: "",
            state: state,
            language: text.language,
            isRightToLeft: text.isRightToLeft,
            headline: text.headline
        )
        reply.shop = scene.shop
        reply.amount = text.amount
        reply.amountCents = view.amount?.amount.minorUnits
        reply.currency = view.amount?.amount.currency
        reply.tip = state == .paid ? text.tip : nil
        reply.memo = view.memo
        reply.line = text.line
        reply.note = text.note
        if let second = text.second, let language = text.secondLanguage {
            reply.second = DisplayReply.Second(language: language, text: second)
        }
        if state == .waiting || state == .near {
            reply.code = DisplayReply.Labelled(text: "3447", label: text.code)
        }
        if state == .waiting {
            reply.left = DisplayReply.TimeLeft(
                milliseconds: 252_000,
                totalMilliseconds: 300_000,
                label: text.left
            )
            let url = "HTTPS://PAY.EXAMPLE/P/8BB71B3447"
            if let code = QRCode(url) {
                let qr = DisplayReply.PayLink.QR(side: code.side, path: code.path)
                reply.payLink = DisplayReply.PayLink(url: url, qr: qr, label: text.scan)
            }
        }
        return Named(scene: scene.name, state: state, view: reply)
    }
}
