internal import GotchuCore
internal import Synchronization

/// Counts replies by route and status, and records the durations of API requests by route. The
/// numbers of routes and of statuses are bounded.
final class RequestMetrics: Sendable {
    struct Key: Hashable, Sendable {
        /// The router's pattern: `/sessions/{sid}`; `NotFound` if no route matches.
        let route: String
        let status: Int
    }

    private let counts = Mutex<[Key: Int]>([:])
    private let histograms = Mutex<[String: Histogram]>([:])

    var replyCounts: [Key: Int] { counts.withLock { $0 } }

    /// The durations of requests whose route begins with `/api/`, by the router's pattern.
    var durations: [String: Histogram] { histograms.withLock { $0 } }

    /// Records the duration of a request whose route begins with `/api/`. Streams are not recorded.
    func recordDuration(_ time: Duration, of route: String?) {
        guard let route, route.hasPrefix("/api/"), !route.hasSuffix("/events") else { return }
        histograms.withLock { $0[route, default: .human].observe(time) }
    }

    func countReply(_ route: String?, _ status: Int) {
        let key = Key(route: route ?? "NotFound", status: status)
        counts.withLock { $0[key, default: 0] += 1 }
    }
}
