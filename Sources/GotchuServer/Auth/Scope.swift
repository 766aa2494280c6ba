/// The calls that a token allows.
enum Scope: String, CaseIterable, Sendable {
    /// Requesting money.
    case payee
    /// Spending money.
    case payer
}
