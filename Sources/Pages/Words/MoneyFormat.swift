import GotchuCore

/// The format of amounts in a language. Digits are always Latin, as on the phone, on the till and
/// on paper.
struct MoneyFormat: Equatable, Sendable {
    let decimal: Character
    let group: Character
    let isSymbolFirst: Bool

    /// Formats an amount, such as `$1,280.00`, `1.280,00 €` or `CHF 5.00`. The text never breaks
    /// over two lines.
    func text(_ money: Money) -> String {
        let digits = money.currency.minorUnitDigits
        var text = String(money.minorUnits.magnitude)
        text = String(repeating: "0", count: max(0, digits + 1 - text.count)) + text
        let decimals = digits > 0 ? String(decimal) + text.suffix(digits) : ""
        var whole = String(text.dropLast(digits))
        for place in stride(from: whole.count - 3, to: 0, by: -3) {
            whole.insert(group, at: whole.index(whole.startIndex, offsetBy: place))
        }
        let minus = money.minorUnits < 0 ? "\u{2212}" : ""
        // A symbol that is a currency code ends with a space.
        let symbol = money.currency.symbol.replacing(" ", with: "")
        let isCode = symbol != money.currency.symbol
        return isSymbolFirst
            ? minus + symbol + (isCode ? "\u{A0}" : "") + whole + decimals
            : minus + whole + decimals + "\u{A0}" + symbol
    }
}
