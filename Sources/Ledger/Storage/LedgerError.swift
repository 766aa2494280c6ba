/// A failure of the ledger itself. A refused command is not a failure: see `Refusal`.
package struct LedgerError: Error, Sendable {
    package let code: Code
    /// A constant sentence.
    package let message: String
    /// The error underneath.
    package let underlying: (any Error)?
    /// The suggested action for the operator, if any.
    package let fix: String?

    package init(
        _ code: Code,
        _ message: String,
        underlying: (any Error)? = nil,
        fix: String? = nil
    ) {
        self.code = code
        self.message = message
        self.underlying = underlying
        self.fix = fix
    }

    package enum Code: String, CaseIterable, Sendable {
        /// Nothing was committed; the same command may be sent again.
        case tryAgain = "ledger-try-again"
        /// The connection was lost during the commit, which may have succeeded. Resending the
        /// command with the same key returns the outcome.
        case unknownOutcome = "ledger-unknown-outcome"
        /// The database rejected the rows to write.
        case rejected = "ledger-rejected"
        /// The database cannot be opened or read.
        case cannotOpen = "ledger-cannot-open"
        /// Another server has exclusive use of the ledger.
        case inUse = "ledger-in-use"
        /// The database is not a gotchu ledger, or was created by a newer version.
        case foreign = "ledger-foreign"
        /// The database contains invalid rows.
        case corrupt = "ledger-corrupt"
        /// The database is not configured for durable commits.
        case notDurable = "ledger-not-durable"
    }
}

extension LedgerError: CustomStringConvertible {
    package var description: String {
        message + (underlying.map { " (\($0))" } ?? "")
    }
}

extension LedgerError {
    /// Creates the error for an invalid row.
    package static func corrupt(_ what: String) -> LedgerError {
        LedgerError(
            .corrupt,
            "The database holds \(what) that cannot be read.",
            fix: "Run gotchu-server verify, and restore a backup if it finds damage."
        )
    }

    static let rowsLocked = LedgerError(
        .tryAgain,
        "Another transaction holds the rows of this account or record."
    )
}
