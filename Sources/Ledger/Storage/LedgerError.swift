/// A failure of the ledger itself. A refused command is no failure: see `Refusal`.
package struct LedgerError: Error, Sendable {
    package let code: Code
    /// A constant sentence.
    package let message: String
    /// The error underneath.
    package let underlying: (any Error)?
    /// The action that helps a person, if there is one.
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
        /// Nothing was decided; the same command may be sent again.
        case tryAgain = "ledger-try-again"
        /// The connection broke during the commit, which may have been carried out. Sending the
        /// same command with the same key again tells.
        case unknownOutcome = "ledger-unknown-outcome"
        /// The database refused the rows that were decided.
        case rejected = "ledger-rejected"
        /// The database cannot be opened or read.
        case cannotOpen = "ledger-cannot-open"
        /// Another server has exclusive use of the books.
        case inUse = "ledger-in-use"
        /// The database is no ledger of ours, or a newer program's.
        case foreign = "ledger-foreign"
        /// The database holds rows that cannot be right.
        case corrupt = "ledger-corrupt"
        /// The database is not configured to keep what it commits.
        case notDurable = "ledger-not-durable"
    }
}

extension LedgerError: CustomStringConvertible {
    package var description: String {
        message + (underlying.map { " (\($0))" } ?? "")
    }
}

extension LedgerError {
    /// Makes the error for a row that cannot be right: stopping is better than guessing.
    package static func corrupt(_ what: String) -> LedgerError {
        LedgerError(
            .corrupt,
            "The database holds \(what) that cannot be read.",
            fix: "Run gotchu-server verify, and restore a backup if it finds damage."
        )
    }

    static let held = LedgerError(
        .tryAgain,
        "Another transaction holds the rows of this account or record."
    )
}
