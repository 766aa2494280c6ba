internal import GotchuCore
internal import Synchronization

/// Slows down callers that guess EIDs or credentials.
///
/// The limit is checked before the look-up, so a limited caller cannot tell a hit from a miss. Only
/// misses are counted, so honest payers are not affected.
///
/// An EID has 40 bits: with a thousand live sessions, one guess in 1.1 billion is a hit. Each
/// subject may miss 20 times at once, and then once in 10 seconds. The owner of a network has many
/// addresses, so all addresses together are limited too: to 10 misses a second. When these are used
/// up, addresses without recent misses share 40 more a second. Honest payers are thus still served
/// during an attack.
///
/// Any number of addresses causes at most 50 misses a second on average. At this rate, one hit
/// among a thousand sessions takes 254 days. A hit shows an amount and a name, which anyone nearby
/// can see anyway. Each login is counted separately, so payers with a token are served even if
/// addresses use up all 50.
final class MissLimiter: Sendable {
    static let subjectRate = TokenBucket.Rate(capacity: 20, perSecond: 0.1)
    static let totalRate = TokenBucket.Rate(capacity: 100, perSecond: 10)
    static let newcomerRate = TokenBucket.Rate(capacity: 400, perSecond: 40)

    private struct Shared {
        var total: TokenBucket
        var newcomers: TokenBucket
        var misses = 0
        var refusals = 0
    }

    private let clock: @Sendable () -> MonotonicTime
    private let subjects: CallerLimiter<RateLimitSubject>
    private let shared: Mutex<Shared>

    init(clock: @escaping @Sendable () -> MonotonicTime = { .now }) {
        self.clock = clock
        subjects = CallerLimiter(Self.subjectRate, clock: clock)
        let now = clock()
        shared = Mutex(
            Shared(
                total: TokenBucket(Self.totalRate, at: now),
                newcomers: TokenBucket(Self.newcomerRate, at: now)
            )
        )
    }

    /// The number of misses, and the number of calls refused because of misses.
    var counts: (misses: Int, refusals: Int) {
        shared.withLock { ($0.misses, $0.refusals) }
    }

    /// Decides if a subject may make a look-up.
    ///
    /// - Returns: `nil` if it may, otherwise the wait in seconds.
    func wait(for subject: RateLimitSubject) -> Int? {
        let now = clock()
        var own = subjects.bucket(of: subject)
        let wait = own.wait(Self.subjectRate, at: now) ?? sharedWait(for: subject, own, at: now)
        if wait != nil { shared.withLock { $0.refusals += 1 } }
        return wait.map { Int($0.rounded(.up)) }
    }

    private func sharedWait(
        for subject: RateLimitSubject,
        _ own: TokenBucket,
        at now: MonotonicTime
    ) -> Double? {
        guard case .address = subject else { return nil }
        var own = own
        let isNewcomer = own.isFull(Self.subjectRate, at: now)
        return shared.withLock { shared in
            guard let wait = shared.total.wait(Self.totalRate, at: now) else { return nil }
            return isNewcomer ? shared.newcomers.wait(Self.newcomerRate, at: now) : wait
        }
    }

    /// Counts a miss, even if the subject may make none: its calls may have run at the same time.
    func countMiss(_ subject: RateLimitSubject) {
        let now = clock()
        subjects.charge(subject)
        shared.withLock { shared in
            shared.misses += 1
            guard case .address = subject else { return }
            if shared.total.wait(Self.totalRate, at: now) == nil {
                shared.total.charge(Self.totalRate, at: now)
            } else {
                shared.newcomers.charge(Self.newcomerRate, at: now)
            }
        }
    }
}
