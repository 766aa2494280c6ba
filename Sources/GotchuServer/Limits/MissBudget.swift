internal import GotchuCore
internal import Synchronization

/// How many wrong guesses at an EID all clients together may make.
///
/// An EID has 40 bits. At ten guesses a second against a thousand live sessions the first hit takes
/// years; limits per address alone are no help against many addresses. Only misses cost, so that
/// honest payers never notice.
final class MissBudget: Sendable {
    static let rate = TokenBucket.Rate(capacity: 100, perSecond: 10)

    private let clock: @Sendable () -> MonotonicTime
    private let bucket: Mutex<TokenBucket>

    init(clock: @escaping @Sendable () -> MonotonicTime = { .now }) {
        self.clock = clock
        bucket = Mutex(TokenBucket(Self.rate, at: clock()))
    }

    /// Pays for one miss.
    ///
    /// - Returns: `nil` if it may be told, or after how many seconds to come back.
    func take() -> Int? {
        let now = clock()
        return bucket.withLock { $0.take(Self.rate, at: now) }.map { Int($0.rounded(.up)) }
    }
}
