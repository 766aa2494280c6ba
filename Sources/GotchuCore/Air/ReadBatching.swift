/// Decides how long advertisement reports are left unread, so that they are read as a batch.
///
/// Waking a thread costs more than reading a report. At a high rate, a read for each report would
/// be most of the work. A delay of 80 ms is not noticed at a till.
package struct ReadBatching: Sendable {
    /// The minimum number of reports in a window that starts or continues batching. It starts at
    /// 160 a second. While batching, a window ends with a read, after 320 ms, so batching continues
    /// down to 125 a second.
    static let busyCount = 40
    package static let window: Duration = .milliseconds(250)
    package static let pause: Duration = .milliseconds(80)

    /// The end of the pause before a batch is read; `nil` while reports are read as they arrive.
    ///
    /// A batch may take several reads. The time stays set until the last of them.
    package private(set) var pauseEnd: ContinuousClock.Instant?
    private var windowEnd: ContinuousClock.Instant?
    /// The number of reports read in the current batch, which ends with a read that leaves none.
    private var batchCount = 0
    private var count = 0
    private var isBusy = false

    package init() {}

    /// Records a read. Begins a pause if no report is left and reports arrive at a high rate.
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
        // After a silence, the count covers more than one window. Only the next window gives a
        // rate.
        isBusy = count >= Self.busyCount && now - end < Self.window
        count = 0
        windowEnd = now + Self.window
    }
}
