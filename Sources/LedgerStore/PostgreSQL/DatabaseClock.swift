internal import GotchuCore
internal import Synchronization

/// The clock of the database, by which all its servers go: one of theirs that is wrong would end
/// other servers' sessions, or keep its own alive.
///
/// Between two looks at it time goes on by a clock that never steps. A look says no more than that
/// its time was reached somewhere between asking and answering, so that what was known before stays
/// as long as it agrees with that.
final class DatabaseClock: Sendable {
    private let local: @Sendable () -> MonotonicTime
    /// The difference to be added to the local clock; `nil` before the first look.
    private let offset = Mutex<Duration?>(nil)

    init(local: @escaping @Sendable () -> MonotonicTime = { .now }) {
        self.local = local
    }

    var now: Timestamp {
        let time = local().sinceStart
        guard let offset = offset.withLock({ $0 }) else { return .now }
        return Timestamp(milliseconds: (time + offset).wholeMilliseconds)
    }

    /// Takes what the database has said.
    func set(_ time: Timestamp, asked: MonotonicTime, answered: MonotonicTime) {
        let lowest = Duration.milliseconds(time.milliseconds) - answered.sinceStart
        let highest = Duration.milliseconds(time.milliseconds) - asked.sinceStart
        offset.withLock { offset in
            let known = offset ?? (lowest + highest) / 2
            offset = min(max(known, lowest), highest)
        }
    }
}
