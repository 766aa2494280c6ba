internal import GotchuCore

/// A token bucket: bursts of `capacity`, and `perSecond` on average.
struct TokenBucket: Equatable, Sendable {
    struct Rate: Equatable, Sendable {
        let capacity: Double
        let perSecond: Double

        /// The time that an empty bucket needs to become full.
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
    /// - Returns: `nil` if there was a token, otherwise the seconds until the next one.
    mutating func consume(_ rate: Rate, at time: MonotonicTime) -> Double? {
        if let wait = wait(rate, at: time) { return wait }
        tokens -= 1
        return nil
    }

    /// Takes one token even if there is none. The refill then starts below zero.
    mutating func charge(_ rate: Rate, at time: MonotonicTime) {
        refill(rate, at: time)
        tokens -= 1
    }

    /// Refills the bucket, and takes no token.
    ///
    /// - Returns: `nil` if there is a token, otherwise the seconds until the next one.
    mutating func wait(_ rate: Rate, at time: MonotonicTime) -> Double? {
        refill(rate, at: time)
        return tokens >= 1 ? nil : (1 - tokens) / rate.perSecond
    }

    /// Returns true if the bucket is full. A full bucket equals a new one, so it may be evicted.
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
