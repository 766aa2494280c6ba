internal import GotchuCore

/// A token bucket: bursts of `capacity`, and `perSecond` on average.
struct TokenBucket: Equatable, Sendable {
    struct Rate: Equatable, Sendable {
        let capacity: Double
        let perSecond: Double

        /// The time in which an empty bucket becomes full.
        var refill: Duration { .seconds(capacity / perSecond) }
    }

    private var tokens: Double
    private var updatedAt: MonotonicTime

    init(_ rate: Rate, at time: MonotonicTime) {
        tokens = rate.capacity
        updatedAt = time
    }

    /// The number of whole tokens at the last update.
    var remaining: Int { max(0, Int(tokens)) }

    /// Takes one token.
    ///
    /// - Returns: `nil` if there was one, otherwise the seconds until there is one.
    mutating func take(_ rate: Rate, at time: MonotonicTime) -> Double? {
        if let wait = wait(rate, at: time) { return wait }
        tokens -= 1
        return nil
    }

    /// Takes one token even if there is none: the deficit is refilled first.
    mutating func charge(_ rate: Rate, at time: MonotonicTime) {
        refill(rate, at: time)
        tokens -= 1
    }

    /// - Returns: `nil` if there is a token, otherwise the seconds until there is one.
    mutating func wait(_ rate: Rate, at time: MonotonicTime) -> Double? {
        refill(rate, at: time)
        return tokens >= 1 ? nil : (1 - tokens) / rate.perSecond
    }

    /// Returns true if the bucket is full, so that evicting it loses nothing.
    mutating func isFull(_ rate: Rate, at time: MonotonicTime) -> Bool {
        refill(rate, at: time)
        return tokens >= rate.capacity
    }

    private mutating func refill(_ rate: Rate, at time: MonotonicTime) {
        let elapsed = max(0, (time - updatedAt).inSeconds)
        tokens = min(rate.capacity, tokens + elapsed * rate.perSecond)
        updatedAt = max(updatedAt, time)
    }
}
