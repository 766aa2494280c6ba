import Synchronization

/// The connections to the socket, their limits, and the replies since the start.
package final class LocalTraffic: Sendable {
    /// The connections that one user can have at once, so that nobody takes the socket from others.
    static let userLimit = 256
    /// The connections of all users without a level together: each is only refused.
    static let strangerLimit = 16
    /// The connections of all users together who are not owners.
    static let commonLimit = LocalServer.connectionLimit - LocalServer.ownerReserve

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

        init(_ peer: Peer, levels: Set<AccessLevel>) {
            self =
                if levels.contains(.owner) { .owner } else if levels.isEmpty { .stranger } else {
                    .user(peer.userID)
                }
        }

        fileprivate var limit: Int {
            switch self {
            case .owner, .user: LocalTraffic.userLimit
            case .stranger: LocalTraffic.strangerLimit
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

    private let state = Mutex(State())

    package init() {}

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
            guard state.connections[standing, default: 0] < standing.limit,
                standing == .owner || state.common < Self.commonLimit
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
