import GotchuCore

/// The time at which something that failed is tried again: after 250 ms, doubling to 2 s unless
/// told otherwise, for as long as it is wanted.
struct Retry: Equatable, Sendable {
    private var pause: Duration
    private let longestPause: Duration
    private let busyPause: Duration
    private(set) var due: MonotonicTime?
    /// In a row.
    private(set) var failures = 0

    init(timings: RecoveryTimings = RecoveryTimings()) {
        pause = timings.firstPause
        longestPause = timings.longestPause
        busyPause = timings.busyPause
    }

    func isDue(now: MonotonicTime) -> Bool { due.map { $0 <= now } ?? true }

    /// Waits for something to end, which is no failure.
    mutating func wasBusy(now: MonotonicTime) {
        due = now + busyPause
    }

    /// - Parameter wasSlow: a call that timed out is repeated at once. bluetoothd answers in order,
    ///   so while it hangs one call is always on its way, and its end is noticed when it comes.
    mutating func failed(now: MonotonicTime, wasSlow: Bool = false) {
        failures += 1
        due = wasSlow ? now : now + pause
        if !wasSlow { pause = min(pause * 2, longestPause) }
    }
}
