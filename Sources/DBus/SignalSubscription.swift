/// A subscription to the signals that match any of some rules.
///
/// Ends with the connection, or with `Connection.unsubscribe(_:)`.
package struct SignalSubscription: Sendable {
    let id: UInt64
    let rules: [MatchRule]
}
