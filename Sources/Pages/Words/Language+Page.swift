package import GotchuCore

extension Language {
    package var isRightToLeft: Bool { words.isRightToLeft }

    /// An amount as people of the language write it. Signs stay where they are: in a text from
    /// right to left it is isolated (Unicode Standard Annex 9, 2.4).
    ///
    /// - Parameter isAdded: True to say that it was added.
    package func text(_ money: Money, isAdded: Bool = false) -> String {
        let text = (isAdded ? "+" : "") + words.money.text(money)
        return isRightToLeft ? "\u{2066}\(text)\u{2069}" : text
    }
}

extension String {
    /// The text with its blanks, `{}`, filled in their order.
    package func filled(_ blanks: String...) -> String {
        var parts = split(separator: "{}", omittingEmptySubsequences: false)
        var filled = String(parts.removeFirst())
        for (part, blank) in zip(parts, blanks) { filled += blank + part }
        return filled
    }
}
