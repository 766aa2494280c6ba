import GotchuCore

/// The schedule of the retries of a failed operation. By default the first pause is 250 ms, and it
/// doubles up to 2 s.
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

    /// Schedules a retry while another scan must end first. This does not count as a failure.
    mutating func postpone(now: MonotonicTime) {
        due = now + busyPause
    }

    /// - Parameter didTimeOut: True if the call timed out. It is then repeated at once. While
    ///   bluetoothd hangs, one call must always be pending: its answer shows the recovery.
    mutating func failed(now: MonotonicTime, didTimeOut: Bool = false) {
        failures += 1
        due = didTimeOut ? now : now + pause
        if !didTimeOut { pause = min(pause * 2, maximumPause) }
    }
}
