package import Logging

/// Logs a repeated failure once, and its end once. A long failure then does not hide other
/// messages.
package struct FailureLog: Sendable {
    private let logger: Logger
    private let level: Logger.Level
    private let failure: String
    private let recovery: String
    private var isFailing = false

    /// - Parameters:
    ///   - level: The level of both messages.
    ///   - failure: The message for the failure.
    ///   - recovery: The message for its end.
    package init(
        _ logger: Logger,
        level: Logger.Level = .warning,
        failure: String,
        recovery: String
    ) {
        self.logger = logger
        self.level = level
        self.failure = failure
        self.recovery = recovery
    }

    /// Logs a failure. The first one is logged at the usual level, further ones at debug.
    package mutating func recordFailure(_ error: any Error, _ more: Logger.Metadata = [:]) {
        logger.log(
            level: isFailing ? .debug : level,
            "\(failure)",
            metadata: more.merging(["error": "\(error)"]) { $1 }
        )
        isFailing = true
    }

    package mutating func recordSuccess() {
        guard isFailing else { return }
        isFailing = false
        logger.log(level: level, "\(recovery)")
    }
}
