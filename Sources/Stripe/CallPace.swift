import GotchuCore
import Synchronization

/// Spaces calls out: 20 a second, and 10 to one endpoint. Stripe allows 100, 25 with test keys, and
/// 25 to an endpoint; two servers together stay below that.
final class CallPace: Sendable {
    static let interval: Duration = .milliseconds(50)
    static let endpointInterval: Duration = .milliseconds(100)
    /// The longest wait. A call that would wait longer is not made.
    static let longestWait: Duration = .seconds(5)

    private let pacing = Mutex(Pacing())

    /// The decision, in values.
    struct Pacing {
        private var next: MonotonicTime?
        /// The earliest times by endpoint; only as many as there are kinds of calls.
        private var nextByEndpoint: [String: MonotonicTime] = [:]

        /// Reserves a time for a call.
        ///
        /// - Returns: The wait until then; `nil` if it were too long.
        mutating func reserve(_ endpoint: String, at now: MonotonicTime) -> Duration? {
            let start = max(now, next ?? now, nextByEndpoint[endpoint] ?? now)
            guard start - now <= CallPace.longestWait else { return nil }
            next = start + CallPace.interval
            nextByEndpoint[endpoint] = start + CallPace.endpointInterval
            return start - now
        }
    }

    /// Waits for the time of a call.
    ///
    /// - Returns: False if it should not be made: too many wait, or the task was cancelled.
    func wait(for endpoint: String) async -> Bool {
        let time = MonotonicTime.now
        guard let wait = pacing.withLock({ $0.reserve(endpoint, at: time) }) else { return false }
        guard wait > .zero else { return true }
        do {
            try await Task.sleep(for: wait)
            return true
        } catch {
            return false
        }
    }
}
