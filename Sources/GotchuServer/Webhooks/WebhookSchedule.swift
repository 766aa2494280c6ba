/// The delays between delivery attempts.
struct WebhookSchedule: Sendable {
    /// The first delay, before jitter. Each further one is twice as long.
    var firstDelay: Duration = .seconds(5)
    /// The maximum delay. A longer `Retry-After` exceeds it.
    var maximumDelay: Duration = .seconds(3_600)

    /// Returns the delay before the next attempt.
    ///
    /// - Parameters:
    ///   - attempt: The number of the attempt that has just failed; the first is 1.
    ///   - retryAfter: The receiver's `Retry-After`, which is the minimum delay.
    ///   - jitter: A random number in 0 ..< 1. The delay is 50 to 100 % of the schedule's.
    func delay(after attempt: Int64, retryAfter: Duration?, jitter: Double) -> Duration {
        let doubled = firstDelay * (1 << Int(min(max(attempt, 1) - 1, 16)))
        return max(min(doubled, maximumDelay) * (0.5 + jitter / 2), retryAfter ?? .zero)
    }
}
