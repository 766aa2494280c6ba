package import Logging

/// Says once that something fails which is tried again and again, and once that it works again: an
/// hour without a database must not bury in the log what else happened in it.
package struct FailureLog: Sendable {
    private let logger: Logger
    private let level: Logger.Level
    private let failure: String
    private let recovery: String
    private var isFailing = false

    /// - Parameters:
    ///   - level: At which both are said.
    ///   - failure: The sentence that says what fails.
    ///   - recovery: The sentence that says that it does not any more.
    package init(
        _ logger: Logger,
        level: Logger.Level = .info,
        failure: String,
        recovery: String
    ) {
        self.logger = logger
        self.level = level
        self.failure = failure
        self.recovery = recovery
    }

    /// Each further failure is said at level debug.
    package mutating func failed(_ error: any Error) {
        logger.log(
            level: isFailing ? .debug : level,
            "\(failure)",
            metadata: ["error": "\(error)"]
        )
        isFailing = true
    }

    package mutating func worked() {
        guard isFailing else { return }
        isFailing = false
        logger.log(level: level, "\(recovery)")
    }
}
