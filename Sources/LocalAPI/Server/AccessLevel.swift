/// A right at the daemon. Every route requires exactly one.
package enum AccessLevel: String, CaseIterable, Sendable {
    /// See the customer's display, on its port: all users who are listed for something.
    case viewer
    /// Read status and sessions: all who are listed for something, or for this alone.
    case observer
    /// Request money.
    case cashier
    /// Spend the wallet's money.
    case spender
    /// Change the daemon itself.
    case owner
}
