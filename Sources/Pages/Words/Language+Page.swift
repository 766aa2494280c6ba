package import GotchuCore

extension Language {
    /// The texts of the customer's display.
    var display: DisplayWords { pick(.english, .german, .arabic) }
    package var layout: LayoutWords { pick(.english, .german, .arabic) }
    package var pay: PayWords { pick(.english, .german, .arabic) }
    package var wallet: WalletWords { pick(.english, .german, .arabic) }
    package var contests: ContestWords { pick(.english, .german, .arabic) }
    package var contestPage: ContestPageWords { pick(.english, .german, .arabic) }

    package var isRightToLeft: Bool { display.isRightToLeft }

    /// Formats an amount in the language's format. In right-to-left text the amount is isolated.
    /// Its signs then keep their place (Unicode Standard Annex 9, 2.4).
    ///
    /// - Parameter isAdded: True to show a plus sign.
    package func text(_ money: Money, isAdded: Bool = false) -> String {
        let text = (isAdded ? "+" : "") + display.money.text(money)
        return isRightToLeft ? "\u{2066}\(text)\u{2069}" : text
    }

    /// Returns the table of this language.
    private func pick<Table>(
        _ english: @autoclosure () -> Table,
        _ german: @autoclosure () -> Table,
        _ arabic: @autoclosure () -> Table
    ) -> Table {
        switch self {
        case .english: english()
        case .german: german()
        case .arabic: arabic()
        }
    }
}

extension String {
    /// Returns the text with each `{}` replaced by the next argument.
    package func filled(_ blanks: String...) -> String {
        var parts = split(separator: "{}", omittingEmptySubsequences: false)
        var filled = String(parts.removeFirst())
        for (part, blank) in zip(parts, blanks) { filled += blank + part }
        return filled
    }
}
