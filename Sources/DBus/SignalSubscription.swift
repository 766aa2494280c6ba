import Synchronization

/// The signals that match any of some rules, in the order of their arrival, for one consumer.
///
/// Bounded: a consumer that is too slow loses the oldest, and `dropped` says how many. Finishes
/// when the connection ends. Ends with `Connection.unsubscribe(_:)`.
package struct SignalSubscription: Sendable {
    package let signals: AsyncStream<Signal>
    let id: UInt64
    let rules: [MatchRule]
    let drops: DropCount

    /// How many signals the consumer was too slow for.
    package var dropped: Int { drops.count }
}

/// How many signals one subscription has lost.
final class DropCount: Sendable {
    private let value = Atomic(0)

    var count: Int { value.load(ordering: .relaxed) }

    func add() {
        value.add(1, ordering: .relaxed)
        BusLosses.ofThisProcess.noteDroppedSignal()
    }
}
