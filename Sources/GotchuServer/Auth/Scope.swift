/// The calls that a token allows.
enum Scope: String, CaseIterable, Sendable {
    /// Requesting money.
    case payee
    /// Spending money.
    case payer
}

extension [Scope] {
    /// In the words of a token's `scope`.
    var text: String { map(\.rawValue).joined(separator: " ") }
}
