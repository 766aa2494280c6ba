import Synchronization

/// Who is connected to the socket, and what it has answered since the start.
package final class LocalTraffic: Sendable {
    /// How many connections one user can have at once, so that nobody takes the socket from others.
    static let userLimit = 256

    /// What is counted.
    package struct Counts: Sendable {
        /// Replies by HTTP status.
        package var replies: [Int: Int] = [:]
        package var connections = 0
        /// Connections that were closed because their user had too many.
        package var refusals = 0
    }

    private struct State {
        var counts = Counts()
        var connections: [UInt32: Int] = [:]
    }

    private let state = Mutex(State())

    package init() {}

    package var counts: Counts { state.withLock(\.counts) }

    func count(_ status: Int) {
        state.withLock { $0.counts.replies[status, default: 0] += 1 }
    }

    /// - Returns: Whether this user may have another connection, which then counts until it leaves.
    func enter(_ userID: UInt32) -> Bool {
        state.withLock { state in
            guard state.connections[userID, default: 0] < Self.userLimit else {
                state.counts.refusals += 1
                return false
            }
            state.connections[userID, default: 0] += 1
            state.counts.connections += 1
            return true
        }
    }

    func leave(_ userID: UInt32) {
        state.withLock { state in
            let left = state.connections[userID, default: 1] - 1
            state.connections[userID] = left > 0 ? left : nil
            state.counts.connections -= 1
        }
    }
}
