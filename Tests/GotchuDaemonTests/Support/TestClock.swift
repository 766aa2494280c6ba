import Synchronization

/// A clock whose sleeps end at once and advance its time. A test can hold a sleep.
final class TestClock: Clock {
    struct Instant: InstantProtocol {
        var sinceStart = Duration.zero

        func advanced(by duration: Duration) -> Instant {
            Instant(sinceStart: sinceStart + duration)
        }
        func duration(to other: Instant) -> Duration { other.sinceStart - sinceStart }
        static func < (left: Instant, right: Instant) -> Bool { left.sinceStart < right.sinceStart }
    }

    private let time = Mutex(Instant())
    private let heldSleep = Mutex<Gate?>(nil)

    var now: Instant { time.withLock(\.self) }
    var minimumResolution: Duration { .nanoseconds(1) }

    /// Makes the next sleep last until it is cancelled or the gate is opened.
    ///
    /// - Returns: A gate that the sleeping task reaches.
    func holdNextSleep() -> Gate {
        let gate = Gate()
        heldSleep.withLock { $0 = gate }
        return gate
    }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let held = heldSleep.withLock { held in
            defer { held = nil }
            return held
        }
        if let held {
            await withTaskCancellationHandler {
                await held.pass()
            } onCancel: {
                held.open()
            }
        }
        try Task.checkCancellation()
        time.withLock { $0 = max($0, deadline) }
    }
}
