import Synchronization

/// What the socket has answered since the start, by status.
package final class LocalTraffic: Sendable {
    private let state = Mutex<[Int: Int]>([:])

    package init() {}

    /// How many replies there were of each HTTP status.
    package var replies: [Int: Int] { state.withLock(\.self) }

    func count(_ status: Int) {
        state.withLock { $0[status, default: 0] += 1 }
    }
}
