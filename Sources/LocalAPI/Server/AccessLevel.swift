/// A caller's right at the daemon. Every route requires exactly one.
package enum AccessLevel: String, CaseIterable, Sendable {
    /// See the customer's display on its port: any listed user.
    case viewer
    /// Read status and sessions: any listed user except those listed as viewer only.
    case observer
    /// Request money.
    case cashier
    /// Spend the wallet's money.
    case spender
    /// Change the daemon itself.
    case owner
}
