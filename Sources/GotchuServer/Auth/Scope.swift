/// The calls that a token allows.
enum Scope: String, CaseIterable, Sendable {
    /// Requesting money.
    case payee
    /// Spending money.
    case payer
    /// Withdrawing money to a bank.
    case payouts
}

extension [Scope] {
    /// In the words of a token's `scope`.
    var text: String { map(\.rawValue).joined(separator: " ") }
}
