import Synchronization

/// Counts connections and replies of one address, and enforces the limits on connections.
package final class LocalTraffic: Sendable {
    /// The maximum numbers of simultaneous connections.
    package struct Limits: Sendable {
        /// The maximum of one user, and of all owners together. One user cannot block the others.
        let user: Int
        /// The maximum of all users without a level together. Their requests are only refused.
        let unauthorized: Int
        /// The maximum of all users together, except the owners.
        let common: Int

        package init(user: Int, unauthorized: Int, common: Int) {
            self.user = user
            self.unauthorized = unauthorized
            self.common = common
        }

        package static let socket = Limits(
            user: 256,
            unauthorized: 16,
            common: LocalServer.connectionLimit - LocalServer.ownerReserve
        )
    }

    /// The replies and refusals since the start, and the current connections.
    package struct Counts: Sendable {
        /// The number of replies by HTTP status.
        package var replies: [Int: Int] = [:]
        package var connections = 0
        /// The number of connections that were closed because of a limit.
        package var refusals = 0
    }

    /// The class of a connection. Each class has its own count and limit.
    enum ConnectionClass: Hashable, Sendable {
        case owner
        case user(UInt32)
        /// All users without a level. They share one count: a user with subordinate user ids
        /// (subuid(5)) has many ids.
        case unauthorized

        /// - Parameter lowest: The lowest level that a caller needs at the entrance.
        init(_ peer: Peer, levels: Set<AccessLevel>, lowest: AccessLevel) {
            self =
                if levels.contains(.owner) { .owner } else if levels.contains(lowest) {
                    .user(peer.userID)
                } else { .unauthorized }
        }

        fileprivate func limit(of limits: Limits) -> Int {
            switch self {
            case .owner, .user: limits.user
            case .unauthorized: limits.unauthorized
            }
        }
    }

    /// The maximum number of simultaneous look-ups in the group database, which may be slow.
    static let lookUpLimit = 64
    /// The maximum of one user, whose connections cannot block the others'. A browser opens six at
    /// once.
    static let userLookUpLimit = 12

    private struct State {
        var counts = Counts()
        var lookUps: [UInt32: Int] = [:]
        var connections: [ConnectionClass: Int] = [:]

        /// The number of connections of users who are not owners.
        var common: Int { counts.connections - connections[.owner, default: 0] }
    }

    private let limits: Limits
    private let state = Mutex(State())

    package init(_ limits: Limits) {
        self.limits = limits
    }

    package var counts: Counts { state.withLock(\.counts) }

    /// Counts the start of a look-up of a user.
    ///
    /// - Returns: True if the look-up may start. Only then, `endLookUp(of:)` must be called.
    func beginLookUp(of userID: UInt32) -> Bool {
        state.withLock { state in
            guard state.lookUps.values.reduce(0, +) < Self.lookUpLimit,
                state.lookUps[userID, default: 0] < Self.userLookUpLimit
            else {
                state.counts.refusals += 1
                return false
            }
            state.lookUps[userID, default: 0] += 1
            return true
        }
    }

    func endLookUp(of userID: UInt32) {
        state.withLock { state in
            let left = state.lookUps[userID, default: 1] - 1
            state.lookUps[userID] = left > 0 ? left : nil
        }
    }

    func count(_ status: Int) {
        state.withLock { $0.counts.replies[status, default: 0] += 1 }
    }

    /// - Returns: True if the connection is within the limits. It then counts until
    ///   `removeConnection(of:)`.
    func addConnection(of connectionClass: ConnectionClass) -> Bool {
        state.withLock { state in
            guard
                state.connections[connectionClass, default: 0] < connectionClass.limit(of: limits),
                connectionClass == .owner || state.common < limits.common
            else {
                state.counts.refusals += 1
                return false
            }
            state.connections[connectionClass, default: 0] += 1
            state.counts.connections += 1
            return true
        }
    }

    func removeConnection(of connectionClass: ConnectionClass) {
        state.withLock { state in
            let left = state.connections[connectionClass, default: 1] - 1
            state.connections[connectionClass] = left > 0 ? left : nil
            state.counts.connections -= 1
        }
    }
}
