/// The delays before the same request is sent again: 2, 4, 8 … 60 seconds, with jitter.
package struct RetrySchedule: Sendable {
    /// The first delay, before jitter.
    package static let firstDelay: Duration = .seconds(2)
    /// The longest delay, unless the server asks for more.
    static let maximumDelay: Duration = .seconds(60)
    /// The longest `Retry-After` that is honored.
    static let maximumRetryAfter: Duration = .seconds(300)

    private var attempt = 0

    package init() {}

    /// Returns the next delay.
    ///
    /// - Parameters:
    ///   - retryAfter: The server's `Retry-After`. The delay is at least as long, up to
    ///     `maximumRetryAfter`.
    ///   - jitter: 0 …< 1, uniformly random. The delay is 50 to 100 % of the schedule's ("equal
    ///     jitter"). Clients that were disconnected together then retry at different times.
    package mutating func next(retryAfter: Duration?, jitter: Double) -> Duration {
        precondition((0..<1).contains(jitter), "jitter is a fraction")
        let doubled = Self.firstDelay * (1 << min(attempt, 5))
        attempt += 1
        let delay = min(Self.maximumDelay, doubled) * (0.5 + jitter / 2)
        return max(delay, min(retryAfter ?? .zero, Self.maximumRetryAfter))
    }
}
