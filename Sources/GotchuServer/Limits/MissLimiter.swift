internal import GotchuCore
internal import Synchronization

/// Slows down those who guess at EIDs.
///
/// It is asked before the look-up, so that the answer of one who is slowed down does not tell a hit
/// from a miss. Only misses cost, so that honest payers never notice.
///
/// An EID has 40 bits: with a thousand live sessions, one guess in 1.1 billion hits. After its
/// first twenty an address has one guess in ten seconds, which is 350 years for one hit; a thousand
/// addresses together need four months, for an amount and a name that are shown to whoever is near.
/// When all of them together guess faster than ten a second, an address is down to its one guess in
/// ten seconds from the start; one that has not missed of late is still answered.
final class MissLimiter: Sendable {
    static let addressRate = TokenBucket.Rate(capacity: 20, perSecond: 0.1)
    static let totalRate = TokenBucket.Rate(capacity: 100, perSecond: 10)

    private let clock: @Sendable () -> MonotonicTime
    private let addresses: CallerLimiter<ClientAddress>
    private let total: Mutex<TokenBucket>

    init(clock: @escaping @Sendable () -> MonotonicTime = { .now }) {
        self.clock = clock
        addresses = CallerLimiter(Self.addressRate, clock: clock)
        total = Mutex(TokenBucket(Self.totalRate, at: clock()))
    }

    /// Whether an address may ask.
    ///
    /// - Returns: `nil` if it may, or after how many seconds to come back.
    func wait(for address: ClientAddress) -> Int? {
        let now = clock()
        var own = addresses.bucket(of: address)
        let wait =
            own.wait(Self.addressRate, at: now)
            ?? (own.isFull(Self.addressRate, at: now)
                ? nil : total.withLock { $0.wait(Self.totalRate, at: now) })
        return wait.map { Int($0.rounded(.up)) }
    }

    /// Counts a miss, also of one who asked several things at once and had not so many left.
    func missed(_ address: ClientAddress) {
        let now = clock()
        addresses.charge(address)
        total.withLock { $0.charge(Self.totalRate, at: now) }
    }
}
