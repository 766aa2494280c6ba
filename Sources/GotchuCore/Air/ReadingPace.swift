/// Decides how long advertisement reports are collected before they are read as a batch.
///
/// Waking a thread costs more than reading a frame. At a high rate, reading each frame by itself
/// would be most of the work, and a delay of 80 ms is not noticed at a till.
package struct ReadingPace: Sendable {
    /// The number of reports per window that starts batching: 160 a second. While batching, a
    /// window ends with a read, so that batching continues down to 125 a second.
    static let busyCount = 40
    package static let window: Duration = .milliseconds(250)
    static let pause: Duration = .milliseconds(80)

    private var windowEnd: MonotonicTime?
    private var count = 0
    private var isBusy = false

    package init() {}

    /// - Returns: The pause before the next read; `nil` for none.
    package mutating func read(_ frames: Int, now: MonotonicTime) -> Duration? {
        count += frames
        guard let end = windowEnd else {
            windowEnd = now + Self.window
            return nil
        }
        if now >= end {
            // After a silence the count covers more than a window, so the next window decides.
            isBusy = count >= Self.busyCount && now - end < Self.window
            count = 0
            windowEnd = now + Self.window
        }
        return isBusy ? Self.pause : nil
    }
}
