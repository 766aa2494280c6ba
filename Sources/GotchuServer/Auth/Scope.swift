/// The calls that a token allows.
enum Scope: String, CaseIterable, Sendable {
    /// To ask for money.
    case payee
    /// To spend it.
    case payer
}
