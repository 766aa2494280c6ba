internal import Synchronization

/// Counts answered requests by route and status. Both are bounded sets.
final class RequestMetrics: Sendable {
    struct Key: Hashable, Sendable {
        /// The router's pattern: `/sessions/{sid}`; `NotFound` for an unknown address.
        let route: String
        let status: Int
    }

    private let counts = Mutex<[Key: Int]>([:])

    var reading: [Key: Int] { counts.withLock { $0 } }

    func answered(_ route: String?, _ status: Int) {
        let key = Key(route: route ?? "NotFound", status: status)
        counts.withLock { $0[key, default: 0] += 1 }
    }
}
