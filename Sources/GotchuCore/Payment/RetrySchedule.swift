/// The delays before the same request is sent again: 2, 4, 8 … 60 seconds, with jitter.
package struct RetrySchedule: Sendable {
    /// The first wait.
    package static let firstDelay: Duration = .seconds(2)
    /// The longest wait, unless the server asked for more.
    static let maximumDelay: Duration = .seconds(60)
    /// The longest `Retry-After` that is honored.
    static let maximumRetryAfter: Duration = .seconds(300)

    private var attempt = 0

    package init() {}

    /// Returns the next wait.
    ///
    /// - Parameters:
    ///   - retryAfter: The server's `Retry-After`: the wait is at least as long.
    ///   - jitter: 0 …< 1, uniformly random: the wait is 50 to 100 % of the schedule's, so that
    ///     payers that were cut off together do not come back together ("equal jitter").
    package mutating func next(retryAfter: Duration?, jitter: Double) -> Duration {
        precondition((0..<1).contains(jitter), "jitter is a fraction")
        let doubled = Self.firstDelay * (1 << min(attempt, 5))
        attempt += 1
        let delay = min(Self.maximumDelay, doubled) * (0.5 + jitter / 2)
        return max(delay, min(retryAfter ?? .zero, Self.maximumRetryAfter))
    }
}
