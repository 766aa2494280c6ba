/// The delays between delivery attempts.
struct WebhookSchedule: Sendable {
    /// The first delay; each further one is twice as long.
    var firstDelay: Duration = .seconds(5)
    /// The longest delay, unless the receiver requests a longer one.
    var maximumDelay: Duration = .seconds(3_600)

    /// - Parameters:
    ///   - attempt: 1 for the first attempt, which has just failed.
    ///   - retryAfter: The receiver's `Retry-After`: the minimum delay.
    ///   - jitter: 0 ..< 1: the delay is 50 to 100 % of the schedule's.
    func delay(after attempt: Int64, retryAfter: Duration?, jitter: Double) -> Duration {
        let doubled = firstDelay * (1 << Int(min(max(attempt, 1) - 1, 16)))
        return max(min(doubled, maximumDelay) * (0.5 + jitter / 2), retryAfter ?? .zero)
    }
}
