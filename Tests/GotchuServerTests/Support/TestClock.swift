import GotchuCore
import Synchronization

/// A clock that a test sets.
final class TestClock: Sendable {
    private let time = Mutex(MonotonicTime(sinceStart: .zero))

    var now: MonotonicTime { time.withLock { $0 } }

    func advance(_ duration: Duration) { time.withLock { $0 = $0 + duration } }
}
