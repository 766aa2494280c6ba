/// A right on the daemon's socket. Every route requires exactly one.
package enum AccessLevel: String, CaseIterable, Sendable {
    /// Read status and sessions: all who are listed for something, or for this alone.
    case observer
    /// Request money.
    case cashier
    /// Spend the wallet's money.
    case spender
    /// Change the daemon itself.
    case owner
}
