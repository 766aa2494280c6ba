/// Decides how long advertisement reports are left unread, so that they are read as a batch.
///
/// Waking a thread costs more than reading a report. At a high rate, reading each report by itself
/// would be most of the work, and a delay of 80 ms is not noticed at a till.
package struct ReadBatching: Sendable {
    /// The number of reports per window that starts batching: 160 a second. While batching, a
    /// window ends with a read, so that batching continues down to 125 a second.
    static let busyCount = 40
    package static let window: Duration = .milliseconds(250)
    package static let pause: Duration = .milliseconds(80)

    /// The end of the pause before a batch is read; `nil` while reports are read as they arrive.
    ///
    /// A batch may take several reads: until its last one this is a time in the past.
    package private(set) var pauseEnd: ContinuousClock.Instant?
    private var windowEnd: ContinuousClock.Instant?
    /// The number of reports read since the last read that left none.
    private var batchCount = 0
    private var count = 0
    private var isBusy = false

    package init() {}

    /// Records a read, and begins a pause if it left nothing and reports arrive at a high rate.
    ///
    /// - Parameter hasMore: True if more reports may be waiting.
    package mutating func read(_ reports: Int, hasMore: Bool, now: ContinuousClock.Instant) {
        batchCount += reports
        // A pause that was ended early, by a call, is over: the rest is read at once.
        guard !hasMore else { return pauseEnd = pauseEnd.map { min($0, now) } }
        if batchCount > 0 { record(batchCount, now: now) }
        pauseEnd = isBusy && batchCount > 0 ? now + Self.pause : nil
        batchCount = 0
    }

    private mutating func record(_ reports: Int, now: ContinuousClock.Instant) {
        count += reports
        guard let end = windowEnd else { return windowEnd = now + Self.window }
        guard now >= end else { return }
        // After a silence the count covers more than a window, so the next window decides.
        isBusy = count >= Self.busyCount && now - end < Self.window
        count = 0
        windowEnd = now + Self.window
    }
}
