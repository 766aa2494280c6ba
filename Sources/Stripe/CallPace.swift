import GotchuCore
import Synchronization

/// Spaces calls out: 20 a second, and 10 to one endpoint. Stripe allows 100, 25 with test keys, and
/// 25 to an endpoint; two servers together stay below that.
final class CallPace: Sendable {
    static let interval: Duration = .milliseconds(50)
    static let endpointInterval: Duration = .milliseconds(100)
    /// The longest wait in a line. A call that would wait longer is not made.
    static let longestWait: Duration = .seconds(5)

    private let lines = Mutex(Lines())

    private struct Lines {
        var all = Line(interval: CallPace.interval)
        /// The lines by endpoint; only as many as there are kinds of calls.
        var byEndpoint: [String: Line] = [:]
    }

    /// Calls that follow each other at a distance. The decision, in values.
    struct Line {
        let interval: Duration
        private var next: MonotonicTime?

        init(interval: Duration) {
            self.interval = interval
        }

        /// Reserves a time for a call.
        ///
        /// - Returns: The wait until then; `nil` if it were too long.
        mutating func reserve(at now: MonotonicTime) -> Duration? {
            let start = max(now, next ?? now)
            guard start - now <= CallPace.longestWait else { return nil }
            next = start + interval
            return start - now
        }
    }

    /// Waits for the time of a call: first in its endpoint's line, then in that of all calls, so
    /// that many calls to one endpoint keep no others waiting.
    ///
    /// - Returns: False if it should not be made: too many wait, or the task was cancelled.
    func wait(for endpoint: String) async -> Bool {
        let isNext = await pass { lines, now in
            lines.byEndpoint[endpoint, default: Line(interval: Self.endpointInterval)]
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
            // The reserved time itself is waited for.
            try await Task.sleep(for: wait)
            return true
        } catch {
            return false
        }
    }
}
