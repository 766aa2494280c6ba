/// The permissions that a token can have.
enum Scope: String, CaseIterable, Sendable {
    /// Requesting money.
    case payee
    /// Spending money.
    case payer
    /// Withdrawing money to a bank.
    case payouts
}

extension [Scope] {
    /// The scopes in the format of a token's `scope`.
    var text: String { map(\.rawValue).joined(separator: " ") }
}
