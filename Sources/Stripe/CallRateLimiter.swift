import GotchuCore
import Synchronization

/// Limits the call rate: 20 a second, and 10 to one endpoint. Stripe allows 100 a second (25 with
/// test keys), and 25 to one endpoint. Two servers with live keys together stay below these limits;
/// with test keys they may exceed 25.
final class CallRateLimiter: Sendable {
    static let interval: Duration = .milliseconds(50)
    static let endpointInterval: Duration = .milliseconds(100)
    /// The longest wait in a queue. A call that would wait longer is not made.
    static let maximumWait: Duration = .seconds(5)

    private let lines = Mutex(Lines())

    private struct Lines {
        var all = CallQueue(interval: CallRateLimiter.interval)
        /// The queues by endpoint; only as many as there are kinds of calls.
        var byEndpoint: [String: CallQueue] = [:]
    }

    /// A queue of calls with a minimum interval. The time is a parameter.
    struct CallQueue {
        let interval: Duration
        private var next: MonotonicTime?

        init(interval: Duration) {
            self.interval = interval
        }

        /// Reserves a time for a call.
        ///
        /// - Returns: The wait until then; `nil` if it would be too long.
        mutating func reserve(at now: MonotonicTime) -> Duration? {
            let start = max(now, next ?? now)
            guard start - now <= CallRateLimiter.maximumWait else { return nil }
            next = start + interval
            return start - now
        }
    }

    /// Waits for a call's turn: first in its endpoint's queue, then in the queue of all calls. Many
    /// calls to one endpoint then do not delay the others.
    ///
    /// - Returns: False if the call must not be made: too many wait, or the task was cancelled.
    func wait(for endpoint: String) async -> Bool {
        let isNext = await pass { lines, now in
            lines.byEndpoint[endpoint, default: CallQueue(interval: Self.endpointInterval)]
                .reserve(at: now)
        }
        guard isNext else { return false }
        return await pass { $0.all.reserve(at: $1) }
    }

    private func pass(
        _ reserve: (inout Lines, MonotonicTime) -> Duration?
    ) async -> Bool {
        let now = MonotonicTime.now
        guard let wait = lines.withLock({ reserve(&$0, now) }) else { return false }
        guard wait > .zero else { return true }
        do {
            // The task sleeps until the reserved time.
            try await Task.sleep(for: wait)
            return true
        } catch {
            return false
        }
    }
}
