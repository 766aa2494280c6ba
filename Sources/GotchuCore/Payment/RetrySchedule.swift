/// The delays before the same request is sent again: 2, 4, 8 … 60 seconds, with jitter.
package struct RetrySchedule: Sendable {
    /// The first wait.
    package static let firstDelay: Duration = .seconds(2)
    /// No wait is longer, except where the server asked for more.
    static let maximumDelay: Duration = .seconds(60)
    /// The longest `Retry-After` that is honored.
    static let maximumRetryAfter: Duration = .seconds(300)

    private var attempt = 0

    package init() {}

    /// The next wait.
    ///
    /// - Parameters:
    ///   - retryAfter: What the server asked for; never waited less than that.
    ///   - jitter: 0 …< 1, uniformly random: the wait is 50 to 100 % of the schedule's, so that
    ///     payers who were cut off together do not come back together ("equal jitter").
    package mutating func next(retryAfter: Duration?, jitter: Double) -> Duration {
        precondition((0..<1).contains(jitter), "jitter is a fraction")
        let doubled = Self.firstDelay * (1 << min(attempt, 5))
        attempt += 1
        let delay = min(Self.maximumDelay, doubled) * (0.5 + jitter / 2)
        return max(delay, min(retryAfter ?? .zero, Self.maximumRetryAfter))
    }
}
