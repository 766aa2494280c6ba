import GotchuCore

/// The time at which a failed operation is retried: after 250 ms, doubling to 2 s by default, for
/// as long as it is wanted.
struct Retry: Equatable, Sendable {
    private var pause: Duration
    private let maximumPause: Duration
    private let busyPause: Duration
    private(set) var due: MonotonicTime?
    /// The number of consecutive failures.
    private(set) var failures = 0

    init(timings: RecoveryTimings = RecoveryTimings()) {
        pause = timings.firstPause
        maximumPause = timings.maximumPause
        busyPause = timings.busyPause
    }

    func isDue(now: MonotonicTime) -> Bool { due.map { $0 <= now } ?? true }

    /// Schedules a retry after something else has ended; this does not count as a failure.
    mutating func postpone(now: MonotonicTime) {
        due = now + busyPause
    }

    /// - Parameter didTimeOut: True if the call timed out: it is repeated at once. bluetoothd
    ///   answers in order, so while it hangs one call is always pending, which shows its recovery.
    mutating func failed(now: MonotonicTime, didTimeOut: Bool = false) {
        failures += 1
        due = didTimeOut ? now : now + pause
        if !didTimeOut { pause = min(pause * 2, maximumPause) }
    }
}
