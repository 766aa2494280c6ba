import Synchronization

/// The connections to one address, their limits, and the replies since the start.
package final class LocalTraffic: Sendable {
    /// The connections that there can be at once.
    package struct Limits: Sendable {
        /// Those of one user, so that nobody takes the address from others.
        let user: Int
        /// Those of all users without a level together: each is only refused.
        let strangers: Int
        /// Those of all users together who are not owners.
        let common: Int

        package init(user: Int, strangers: Int, common: Int) {
            self.user = user
            self.strangers = strangers
            self.common = common
        }

        /// The socket's.
        package static let socket = Limits(
            user: 256,
            strangers: 16,
            common: LocalServer.connectionLimit - LocalServer.ownerReserve
        )
    }

    /// Counts since the start, and of now.
    package struct Counts: Sendable {
        /// Replies by HTTP status.
        package var replies: [Int: Int] = [:]
        package var connections = 0
        /// Connections that were closed because there were too many.
        package var refusals = 0
    }

    /// The standing of a connection, by which the limits count it.
    enum Standing: Hashable, Sendable {
        case owner
        case user(UInt32)
        /// Any user who may do nothing here. Not counted by user id: somebody with subordinate user
        /// ids (subuid(5)) has many.
        case stranger

        /// - Parameter lowest: The level without which nothing is answered.
        init(_ peer: Peer, levels: Set<AccessLevel>, lowest: AccessLevel) {
            self =
                if levels.contains(.owner) { .owner } else if levels.contains(lowest) {
                    .user(peer.userID)
                } else { .stranger }
        }

        fileprivate func limit(of limits: Limits) -> Int {
            switch self {
            case .owner, .user: limits.user
            case .stranger: limits.strangers
            }
        }
    }

    /// The look-ups in the group database, which may be slow, that can be under way.
    private static let lookUpLimit = 32

    private struct State {
        var counts = Counts()
        var lookUps = 0
        var connections: [Standing: Int] = [:]

        /// The number that is not an owner's.
        var common: Int { counts.connections - connections[.owner, default: 0] }
    }

    private let limits: Limits
    private let state = Mutex(State())

    package init(_ limits: Limits) {
        self.limits = limits
    }

    package var counts: Counts { state.withLock(\.counts) }

    /// Counts a look-up of a user that begins.
    ///
    /// - Returns: True if there may be one more; only then it is to be ended.
    func beginLookUp() -> Bool {
        state.withLock { state in
            guard state.lookUps < Self.lookUpLimit else { return false }
            state.lookUps += 1
            return true
        }
    }

    func endLookUp() { state.withLock { $0.lookUps -= 1 } }

    func count(_ status: Int) {
        state.withLock { $0.counts.replies[status, default: 0] += 1 }
    }

    /// - Returns: True if there may be another such connection, which then counts until it leaves.
    func enter(_ standing: Standing) -> Bool {
        state.withLock { state in
            guard state.connections[standing, default: 0] < standing.limit(of: limits),
                standing == .owner || state.common < limits.common
            else {
                state.counts.refusals += 1
                return false
            }
            state.connections[standing, default: 0] += 1
            state.counts.connections += 1
            return true
        }
    }

    func leave(_ standing: Standing) {
        state.withLock { state in
            let left = state.connections[standing, default: 1] - 1
            state.connections[standing] = left > 0 ? left : nil
            state.counts.connections -= 1
        }
    }
}
