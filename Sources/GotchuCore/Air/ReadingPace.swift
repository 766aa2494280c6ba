/// Decides how long reports of advertisements gather before they are read.
///
/// Waking a thread costs more than reading a frame. Where many come, reading each by itself is most
/// of the work; nobody at a till notices eighty milliseconds.
package struct ReadingPace: Sendable {
    /// The number of reports in a window from which on they gather: 160 a second. While they do, a
    /// window ends with a reading, so that they still do at 125.
    static let busyCount = 40
    package static let window: Duration = .milliseconds(250)
    static let pause: Duration = .milliseconds(80)

    private var windowEnd: MonotonicTime?
    private var count = 0
    private var isBusy = false

    package init() {}

    /// - Returns: The pause before the next reading.
    package mutating func read(_ frames: Int, now: MonotonicTime) -> Duration? {
        count += frames
        guard let end = windowEnd else {
            windowEnd = now + Self.window
            return nil
        }
        if now >= end {
            // After a silence the count covers a longer time, so the next window decides.
            isBusy = count >= Self.busyCount && now - end < Self.window
            count = 0
            windowEnd = now + Self.window
        }
        return isBusy ? Self.pause : nil
    }
}
