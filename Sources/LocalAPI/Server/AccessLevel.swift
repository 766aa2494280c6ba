/// What a caller may do on the daemon's socket. Every route declares exactly one.
package enum AccessLevel: String, CaseIterable, Sendable {
    /// Look: anyone who can open the socket.
    case observer
    /// Ask for money.
    case cashier
    /// Spend the wallet's money.
    case spender
    /// Change the daemon itself.
    case owner
}
