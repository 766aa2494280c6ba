/// An amount of money: an integer number of minor units and its currency. Never a floating-point
/// value.
package struct Money: Hashable, Sendable {
    /// The amount in the currency's minor unit (cents for `usd`). May be negative in ledger lines.
    package let minorUnits: Int64

    /// The currency of the minor units.
    package let currency: Currency

    package init(minorUnits: Int64, currency: Currency = .usd) {
        self.minorUnits = minorUnits
        self.currency = currency
    }

    /// The amounts that one request may have, in minor units: 0.01 to 1,000,000.00 of a two-digit
    /// currency.
    package static let allowedRequest: ClosedRange<Int64> = 1...100_000_000

    /// The tips that are allowed with an amount, in minor units: both together must not exceed the
    /// largest request.
    ///
    /// - Precondition: The amount is an allowed request.
    package static func allowedTip(on amount: Int64) -> ClosedRange<Int64> {
        0...(allowedRequest.upperBound - amount)
    }
}

extension Money {
    /// Parses an amount as a person types it: `50`, `50.00`, `0.5`, `$50.00`. Plus and minus signs,
    /// exponents and thousands separators are not accepted.
    ///
    /// - Returns: `nil` for any other text, for more decimals than the currency has, and for a
    ///   value that is too large. Nothing is rounded.
    package init?(_ text: some StringProtocol, currency: Currency = .usd) {
        var digits = Substring(text)
        if digits.hasPrefix(currency.symbol) { digits.removeFirst(currency.symbol.count) }
        let parts = digits.split(separator: ".", omittingEmptySubsequences: false)
        guard let whole = parts.first, parts.count <= 2, !whole.isEmpty else { return nil }
        let decimals = parts.count == 2 ? parts[1] : ""
        guard parts.count == 1 || !decimals.isEmpty, decimals.count <= currency.minorUnitDigits,
            (whole + decimals).utf8.allSatisfy({
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
            })
        else { return nil }
        let padding = String(repeating: "0", count: currency.minorUnitDigits - decimals.count)
        guard let minorUnits = Int64(whole + decimals + padding) else { return nil }
        self.init(minorUnits: minorUnits, currency: currency)
    }
}

extension Money: CustomStringConvertible {
    /// The amount for a person: `$50.00`, `-$0.05`, `¥500`, `CHF 1,230.00`.
    package var description: String {
        var text = digits
        let whole = text.count - (currency.minorUnitDigits > 0 ? currency.minorUnitDigits + 1 : 0)
        for separator in stride(from: whole - 3, to: 0, by: -3) {
            text.insert(",", at: text.index(text.startIndex, offsetBy: separator))
        }
        return (minorUnits < 0 ? "-" : "") + currency.symbol + text
    }

    /// The amount for programs and forms, in the currency's own unit: `50.00`, `-0.05`, `1230.00`.
    package var decimalText: String { (minorUnits < 0 ? "-" : "") + digits }

    private var digits: String {
        let count = currency.minorUnitDigits
        var text = String(minorUnits.magnitude)
        text = String(repeating: "0", count: max(0, count + 1 - text.count)) + text
        if count > 0 { text.insert(".", at: text.index(text.endIndex, offsetBy: -count)) }
        return text
    }
}

/// An amount with its tip.
package struct TippedAmount: Hashable, Sendable {
    /// The amount without the tip.
    package let amount: Money
    /// The tip in minor units; 0 for none.
    package let tip: Int64

    /// - Parameters:
    ///   - tip: In minor units; clamped to the possible range.
    ///   - isIncluded: True if the tip is a part of `amount`, false if it is added to it.
    package init(_ amount: Money, tip: Int64?, isIncluded: Bool = false) {
        let most = isIncluded ? amount.minorUnits : .max - max(0, amount.minorUnits)
        self.tip = max(0, min(tip ?? 0, most))
        self.amount =
            isIncluded
            ? Money(minorUnits: amount.minorUnits - self.tip, currency: amount.currency) : amount
    }

    package var total: Money {
        Money(minorUnits: amount.minorUnits + tip, currency: amount.currency)
    }

    /// The tip for a person who sees the total: `with $1.00 tip`; `nil` without a tip.
    package var tipText: String? {
        tip > 0 ? "with \(Money(minorUnits: tip, currency: amount.currency)) tip" : nil
    }
}

extension TippedAmount: CustomStringConvertible {
    /// The total for a person: `$6.00 ($5.00 + $1.00 tip)`; without a tip `$5.00`.
    package var description: String {
        guard tip > 0 else { return "\(amount)" }
        return "\(total) (\(amount) + \(Money(minorUnits: tip, currency: amount.currency)) tip)"
    }
}
