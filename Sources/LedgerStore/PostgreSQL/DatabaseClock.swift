internal import GotchuCore
internal import Synchronization

/// The database's clock, used by all its servers. With its own wrong clock, a server would expire
/// other servers' sessions too early, or its own too late.
///
/// Between readings it advances with the monotonic clock. The database reads its clock between the
/// query and the answer, which bounds the offset. The offset changes only if it is outside these
/// bounds.
final class DatabaseClock: Sendable {
    private let local: @Sendable () -> MonotonicTime
    /// The offset from the local clock; `nil` before the first reading.
    private let offset = Mutex<Duration?>(nil)

    init(local: @escaping @Sendable () -> MonotonicTime = { .now }) {
        self.local = local
    }

    var now: Timestamp {
        let time = local().sinceStart
        guard let offset = offset.withLock({ $0 }) else { return .now }
        return Timestamp(milliseconds: (time + offset).wholeMilliseconds)
    }

    /// Applies a reading of the database's clock.
    func set(_ time: Timestamp, asked: MonotonicTime, answered: MonotonicTime) {
        let lowest = Duration.milliseconds(time.milliseconds) - answered.sinceStart
        let highest = Duration.milliseconds(time.milliseconds) - asked.sinceStart
        offset.withLock { offset in
            let known = offset ?? (lowest + highest) / 2
            offset = min(max(known, lowest), highest)
        }
    }
}
