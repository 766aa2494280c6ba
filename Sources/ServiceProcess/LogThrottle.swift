internal import GotchuCore
package import Logging
internal import Synchronization

/// Keeps what fails for every caller alike from filling the log, and the disk that it is on: of a
/// sentence that is said again and again the first in each period stands at its own level, the
/// others at level debug.
package final class LogThrottle: Sendable {
    private static let period: Duration = .seconds(1)

    private let saidAt = Mutex<MonotonicTime?>(nil)

    package init() {}

    /// The level at which the sentence is to be said now.
    ///
    /// - Parameter usual: That of the first in a period.
    package func level(_ usual: Logger.Level) -> Logger.Level {
        let now = MonotonicTime.now
        return saidAt.withLock { saidAt in
            if let before = saidAt, now - before < Self.period { return .debug }
            saidAt = now
            return usual
        }
    }
}
