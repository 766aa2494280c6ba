import GotchuCore

/// The amount by which a wallet holds less than is asked for.
struct Shortage: Equatable {
    let asked: Money
    let held: Money
    let missing: Money

    /// Creates the shortage; `nil` if the wallet holds enough, or another currency.
    init?(asked: Money, held: Money) {
        let (missing, isTooLarge) = asked.minorUnits.subtractingReportingOverflow(held.minorUnits)
        guard asked.currency == held.currency, !isTooLarge, missing > 0 else { return nil }
        self.asked = asked
        self.held = held
        self.missing = Money(minorUnits: missing, currency: asked.currency)
    }

    /// The shortage in two sentences, for a person who was not charged.
    var sentence: String {
        "You need \(missing) more: \(asked) is asked for, and your wallet holds \(held). "
            + "Nothing was charged."
    }

    /// The command that adds what is missing.
    var fix: String { "gotchu-ctl wallet add \(missing.decimalText)" }
}
