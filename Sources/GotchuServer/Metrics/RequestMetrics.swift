internal import Synchronization

/// How many requests were answered, by address and status. There are only so many of either.
final class RequestMetrics: Sendable {
    struct Key: Hashable, Sendable {
        /// As the router knows it: `/sessions/{sid}`; `NotFound` for what is nowhere.
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
