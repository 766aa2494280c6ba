/// A time on a monotonic clock: the duration since a start that depends on the clock.
///
/// Passed as a parameter, so that tests and replays control it. Only differences are meaningful.
package struct MonotonicTime: Hashable, Comparable, Sendable {
    /// The time since the clock's start.
    package let sinceStart: Duration

    package init(sinceStart: Duration) {
        self.sinceStart = sinceStart
    }

    /// The current time on the system's continuous clock, which also runs during suspend. Its start
    /// is the first read by this process.
    package static var now: MonotonicTime {
        MonotonicTime(sinceStart: start.duration(to: .now))
    }

    private static let start = ContinuousClock.now

    package static func - (later: MonotonicTime, earlier: MonotonicTime) -> Duration {
        later.sinceStart - earlier.sinceStart
    }

    package static func + (time: MonotonicTime, duration: Duration) -> MonotonicTime {
        MonotonicTime(sinceStart: time.sinceStart + duration)
    }

    package static func < (left: MonotonicTime, right: MonotonicTime) -> Bool {
        left.sinceStart < right.sinceStart
    }
}
