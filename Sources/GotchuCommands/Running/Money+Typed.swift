import GotchuCore

extension Money {
    /// Parses an amount that a person typed.
    ///
    /// - Parameters:
    ///   - allowed: The allowed amounts in minor units.
    ///   - next: The command to suggest with the failure.
    /// - Throws: `CommandFailure.badData` with the reason.
    init(
        typed text: String,
        in currency: Currency = .usd,
        allowed: ClosedRange<Int64> = Money.allowedRequest,
        next: String
    ) throws(CommandFailure) {
        guard let money = Money(text, currency: currency) else {
            throw .badData(Self.parseFailure(for: text, in: currency), next: next)
        }
        guard allowed.contains(money.minorUnits) else {
            let least = Money(minorUnits: allowed.lowerBound, currency: currency)
            let most = Money(minorUnits: allowed.upperBound, currency: currency)
            throw .badData("'\(text.shortened)' is not between \(least) and \(most).", next: next)
        }
        self = money
    }

    /// Returns the message for an amount that cannot be parsed.
    static func parseFailure(for text: String, in currency: Currency) -> String {
        let decimals = text.split(separator: ".", omittingEmptySubsequences: false).dropFirst()
        let limit = currency.minorUnitDigits
        let rule =
            if text.contains(",") {
                limit == 0
                    ? ": write it without commas."
                    : ": write it without commas, and with a point before the decimals."
            } else if decimals.count == 1, decimals.joined().count > limit {
                limit == 0 ? ", which has no decimals." : ": \(limit) decimals at most."
            } else {
                "."
            }
        return "'\(text.shortened)' is not an amount in \(currency.rawValue)\(rule)"
    }
}
