internal import Logging

/// Says when the tables are no more, or are again, those that this program knows. Whether to write
/// them asks each transaction for itself.
final class VersionWatch: Sendable {
    private let isOutdated = Change()
    private let logger: Logger

    init(logger: Logger) {
        self.logger = logger
    }

    func note(version: Int64) {
        let isOutdated = version > PostgreSQLSchema.newestVersion
        guard self.isOutdated.note(isOutdated) else { return }
        if isOutdated {
            logger.error(
                "A newer gotchu-server has brought the books up to date: no payment is made here.",
                metadata: ["fix": "\(LedgerError.outdated.fix ?? "")"]
            )
        } else {
            logger.notice("The books are of this program's version again.")
        }
    }
}

extension LedgerError {
    static var outdated: LedgerError {
        LedgerError(
            .foreign,
            "The books were brought up to date by a newer gotchu-server.",
            fix: "Stop this one, and start that version."
        )
    }
}
