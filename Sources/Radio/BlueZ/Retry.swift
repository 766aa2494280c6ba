import GotchuCore

/// When something that failed is tried again: after 250 ms, doubling to 2 s, for as long as it is
/// wanted.
struct Retry: Equatable, Sendable {
    static let firstPause: Duration = .milliseconds(250)
    static let longestPause: Duration = .seconds(2)

    private var pause = firstPause
    private(set) var due: MonotonicTime?
    /// In a row.
    private(set) var failures = 0

    func isDue(now: MonotonicTime) -> Bool { due.map { $0 <= now } ?? true }

    /// - Parameter wasSlow: a call that timed out is repeated at once. bluetoothd answers in order,
    ///   so while it hangs one call is always on its way, and its end is noticed when it comes.
    mutating func failed(now: MonotonicTime, wasSlow: Bool = false) {
        failures += 1
        due = wasSlow ? now : now + pause
        if !wasSlow { pause = min(pause * 2, Self.longestPause) }
    }
}
