import GotchuCore

extension Money {
    /// Returns the message for an amount that cannot be parsed.
    static func misreading(_ text: String, in currency: Currency) -> String {
        let decimals = text.split(separator: ".", omittingEmptySubsequences: false).dropFirst()
        let limit = currency.minorUnitDigits
        let rule =
            if text.contains(",") {
                ": it is written without separators."
            } else if decimals.count == 1, decimals.joined().count > limit {
                limit == 0 ? ", which has no decimals." : ": \(limit) decimals at most."
            } else {
                "."
            }
        return "'\(text.shortened)' is not an amount in \(currency.rawValue)\(rule)"
    }
}
