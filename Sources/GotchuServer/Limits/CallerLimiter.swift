internal import GotchuCore
internal import Synchronization

/// One token bucket for each caller (an address, a login or another key), in bounded memory.
final class CallerLimiter<Caller: Hashable & Sendable>: Sendable {
    /// The maximum number of stored buckets. At this number, full buckets are evicted. If none is
    /// full, all new callers share one bucket. A flood of callers thus uses no more memory.
    static var callerLimit: Int { 10_000 }

    private struct State {
        var buckets: [Caller: TokenBucket] = [:]
        var overflow: TokenBucket
        var sweptAt: MonotonicTime
    }

    let rate: TokenBucket.Rate
    private let clock: @Sendable () -> MonotonicTime
    private let state: Mutex<State>

    init(_ rate: TokenBucket.Rate, clock: @escaping @Sendable () -> MonotonicTime = { .now }) {
        self.rate = rate
        self.clock = clock
        let now = clock()
        state = Mutex(State(overflow: TokenBucket(rate, at: now), sweptAt: now))
    }

    /// Takes one token from a caller's bucket.
    ///
    /// - Returns: `nil` if there was a token, otherwise the wait in seconds; and the caller's
    ///   bucket.
    func draw(for caller: Caller) -> (wait: Int?, left: TokenBucket) {
        let (wait, left) = change(caller) { bucket, now in
            (bucket.consume(rate, at: now), bucket)
        }
        return (wait.map { Int($0.rounded(.up)) }, left)
    }

    /// Takes one token from a caller's bucket even if it is empty. The caller's wait then grows.
    func charge(_ caller: Caller) {
        change(caller) { $0.charge(rate, at: $1) }
    }

    /// Returns a caller's bucket. Stores no bucket for a new caller.
    func bucket(of caller: Caller) -> TokenBucket {
        let now = clock()
        return state.withLock { state in
            if let bucket = state.buckets[caller] { return bucket }
            let isRoom = Self.makeRoom(&state, rate, at: now)
            return isRoom ? TokenBucket(rate, at: now) : state.overflow
        }
    }

    var callerCount: Int { state.withLock { $0.buckets.count } }

    private func change<Result: Sendable>(
        _ caller: Caller,
        _ body: (inout TokenBucket, MonotonicTime) -> Result
    ) -> Result {
        let now = clock()
        return state.withLock { state in
            guard state.buckets[caller] != nil || Self.makeRoom(&state, rate, at: now) else {
                return body(&state.overflow, now)
            }
            return body(&state.buckets[caller, default: TokenBucket(rate, at: now)], now)
        }
    }

    /// Evicts full buckets if there is no room for a new caller, at most once a second. Most
    /// callers take few tokens, so their buckets are full again soon.
    ///
    /// - Returns: True if there is room.
    private static func makeRoom(
        _ state: inout State,
        _ rate: TokenBucket.Rate,
        at time: MonotonicTime
    ) -> Bool {
        if state.buckets.count >= callerLimit, time - state.sweptAt >= .seconds(1) {
            state.sweptAt = time
            for caller in state.buckets.keys
            where state.buckets[caller]?.isFull(rate, at: time) == true {
                state.buckets[caller] = nil
            }
        }
        return state.buckets.count < callerLimit
    }
}
