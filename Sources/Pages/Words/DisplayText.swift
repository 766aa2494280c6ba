package import GotchuCore

/// The texts of the customer's display for one view, in the shop's language. `second` is the
/// headline in a second language, if there is one. It includes the line while no payment is
/// awaited.
package struct DisplayText: Equatable, Sendable {
    package let language: Language
    package let isRightToLeft: Bool
    package let amount: String?
    package let tip: String?
    package let headline: String
    package let line: String?
    package let second: String?
    package let secondLanguage: Language?
    /// A warning that the payment may take longer.
    package let note: String?
    package let left: String
    package let code: String
    package let scan: String

    /// - Parameter languages: One or two languages; the first is the shop's.
    package init(_ view: DisplayView, in languages: [Language]) {
        let language = languages.first ?? .english
        let words = language.display
        let copy = words.copy(for: view.state)
        let other = languages.dropFirst().first
        self.language = language
        isRightToLeft = words.isRightToLeft
        amount = view.amount.map { words.money.text($0.amount) }
        tip = view.amount.flatMap { amount in
            guard amount.tip > 0 else { return nil }
            let tip = Money(minorUnits: amount.tip, currency: amount.amount.currency)
            return "\(words.tip) \(words.money.text(tip))"
        }
        headline = copy.headline
        // The warning replaces the line and the second language: there is room for three lines in
        // all.
        let shares = view.shares.map(words.text)
        line = view.isServerUnresponsive ? nil : view.isOffAir ? words.offAir : shares ?? copy.line
        second =
            view.isServerUnresponsive ? nil : other.map { Self.second($0.display, view.state) }
        secondLanguage = second == nil ? nil : other
        note = view.isServerUnresponsive ? words.silent : nil
        left = words.left
        code = words.code
        scan = words.scan
    }

    private static func second(_ words: DisplayWords, _ state: DisplayState) -> String {
        let copy = words.copy(for: state)
        return state.isAwaitingPayment ? copy.headline : "\(copy.headline) · \(copy.line)"
    }
}
