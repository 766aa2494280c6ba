internal import GotchuCore
internal import Synchronization

/// A token bucket for each client address, in bounded memory.
final class AddressLimiter: Sendable {
    /// How many addresses are remembered. When they are more, full buckets are forgotten; if there
    /// are none, all newcomers share one bucket, so that a flood of addresses costs no memory.
    static let addressLimit = 10_000

    private struct State {
        var buckets: [ClientAddress: TokenBucket] = [:]
        var overflow: TokenBucket
        var sweptAt: MonotonicTime
    }

    private let rate: TokenBucket.Rate
    private let clock: @Sendable () -> MonotonicTime
    private let state: Mutex<State>

    init(_ rate: TokenBucket.Rate, clock: @escaping @Sendable () -> MonotonicTime = { .now }) {
        self.rate = rate
        self.clock = clock
        let now = clock()
        state = Mutex(State(overflow: TokenBucket(rate, at: now), sweptAt: now))
    }

    /// Takes one token of an address.
    ///
    /// - Returns: `nil` if there was one, or after how many seconds to come back.
    func take(for address: ClientAddress) -> Int? {
        let now = clock()
        let wait = state.withLock { state in
            if state.buckets[address] == nil, state.buckets.count >= Self.addressLimit {
                Self.forgetFull(&state, rate, at: now)
                guard state.buckets.count < Self.addressLimit else {
                    return state.overflow.take(rate, at: now)
                }
            }
            return state.buckets[address, default: TokenBucket(rate, at: now)].take(rate, at: now)
        }
        return wait.map { Int($0.rounded(.up)) }
    }

    var addressCount: Int { state.withLock { $0.buckets.count } }

    /// At most once in the time a bucket takes to fill: before that there is little to be gained.
    private static func forgetFull(
        _ state: inout State,
        _ rate: TokenBucket.Rate,
        at time: MonotonicTime
    ) {
        guard time - state.sweptAt >= rate.refill else { return }
        state.sweptAt = time
        for address in state.buckets.keys
        where state.buckets[address]?.isFull(rate, at: time) == true {
            state.buckets[address] = nil
        }
    }
}
