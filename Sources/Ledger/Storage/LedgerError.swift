/// A failure of the ledger itself. A refused command is not one: see `Refusal`.
package struct LedgerError: Error, Sendable {
    package let code: Code
    /// A constant sentence.
    package let message: String
    /// The error underneath.
    package let underlying: (any Error)?
    /// The next step of a person who reads it.
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
        /// The connection broke during the commit: it may have been carried out. The same command
        /// with the same key, sent again, tells.
        case unknownOutcome = "ledger-unknown-outcome"
        /// The store would not take what was decided.
        case rejected = "ledger-rejected"
        /// The database cannot be opened or read.
        case cannotOpen = "ledger-cannot-open"
        /// Another server has the books for itself.
        case inUse = "ledger-in-use"
        /// The database is no ledger of ours, or a newer program's.
        case foreign = "ledger-foreign"
        /// The database holds something that cannot be.
        case corrupt = "ledger-corrupt"
        /// The database would not promise that what it has committed stays.
        case notDurable = "ledger-not-durable"
    }
}

extension LedgerError: CustomStringConvertible {
    package var description: String {
        message + (underlying.map { " (\($0))" } ?? "")
    }
}

extension LedgerError {
    /// A row that cannot be one means a broken database: better to stop than to guess.
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
