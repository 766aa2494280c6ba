internal import Logging

/// Knows whether the database still keeps what it commits.
final class PromiseWatch: Sendable {
    private let isForgetful = Change()
    private let logger: Logger

    init(logger: Logger) {
        self.logger = logger
    }

    /// Refuses to commit what a crash may take away again. `synchronous_commit` is kept by each
    /// session; `fsync` and `full_page_writes` are the whole server's, and a reload changes them.
    ///
    /// - Throws: `LedgerError` with `notDurable`.
    func requireDurable() throws(LedgerError) {
        guard !isForgetful.isSo else { throw .notDurable }
    }

    /// Notes whether the database would forget what it commits.
    func note(isForgetful: Bool) {
        guard self.isForgetful.note(isForgetful) else { return }
        if isForgetful {
            logger.error(
                "The database would not promise to keep what it commits: no payment is made.",
                metadata: ["fix": "\(LedgerError.notDurable.fix ?? "")"]
            )
        } else {
            logger.notice("The database keeps its promises again.")
        }
    }
}
