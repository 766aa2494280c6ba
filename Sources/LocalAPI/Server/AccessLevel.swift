/// What a caller may do on the daemon's socket. Every route declares exactly one.
package enum AccessLevel: String, CaseIterable, Sendable {
    /// Look: all who are listed for something, or for this alone.
    case observer
    /// Ask for money.
    case cashier
    /// Spend the wallet's money.
    case spender
    /// Change the daemon itself.
    case owner
}
