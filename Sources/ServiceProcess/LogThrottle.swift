internal import GotchuCore
package import Logging
internal import Synchronization

/// Limits a repeated failure message. The first one in each period is logged at its own level, the
/// others at debug. The message then does not fill the log and the disk.
package final class LogThrottle: Sendable {
    private let period: Duration
    private let lastLoggedAt = Mutex<MonotonicTime?>(nil)

    package init(period: Duration = .seconds(1)) {
        self.period = period
    }

    /// Returns the level at which the message is to be logged now.
    ///
    /// - Parameter level: The level of the first message in a period.
    package func level(_ level: Logger.Level) -> Logger.Level {
        let now = MonotonicTime.now
        return lastLoggedAt.withLock { lastLoggedAt in
            if let before = lastLoggedAt, now - before < period { return .debug }
            lastLoggedAt = now
            return level
        }
    }
}
