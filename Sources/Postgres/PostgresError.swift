/// A failed call of PostgreSQL.
package struct PostgresError: Error, Equatable, Sendable {
    /// The failure's meaning to the caller.
    package let kind: Kind
    /// The server's code, if the server reported the failure.
    package let state: SQLState?
    /// The message of the server or libpq. For people, never matched on; it holds neither a
    /// password nor a row's values.
    package let message: String
    /// The statement, if there was one. It holds no values: those are always bound.
    package let sql: String?

    package init(_ kind: Kind, state: SQLState? = nil, message: String, sql: String? = nil) {
        self.kind = kind
        self.state = state
        self.message = message
        self.sql = sql
    }

    /// The meaning of a failure.
    package enum Kind: String, Sendable {
        /// The address of the database is malformed.
        case malformedAddress
        /// No server could be reached, or none accepted the login.
        case cannotConnect
        /// The connection broke before anything was committed.
        case connectionLost
        /// The connection broke, or fell silent, while it may have been committing.
        case unknownOutcome
        /// The transaction lost against another one: repeated, it may succeed.
        case retryable
        /// Another transaction has inserted the same unique key.
        case conflict
        /// The server cannot do it for now: locked, full, out of resources, read-only.
        case unavailable
        /// The server refuses these values, now and for ever.
        case rejected
        /// The result is not of the form that was requested.
        case corrupt
        /// The server does not understand the statement, or does not permit it.
        case refused
    }

    /// A Boolean that is true if the transaction may succeed when it is repeated from its start.
    package var isWorthRepeating: Bool {
        switch kind {
        case .retryable, .conflict, .connectionLost: true
        case .malformedAddress, .cannotConnect, .unknownOutcome, .unavailable, .rejected, .corrupt,
            .refused:
            false
        }
    }
}

extension PostgresError: CustomStringConvertible {
    /// The part of a statement that is quoted; those that make tables are pages long.
    private static let longestStatement = 300

    package var description: String {
        let code = state.map { " [\($0)]" } ?? ""
        let place = sql.map { " in: \($0.prefix(Self.longestStatement))" } ?? ""
        return "PostgreSQL: \(message)\(code)\(place)"
    }
}

extension PostgresError.Kind {
    /// Classifies the server's code.
    ///
    /// - Parameter isCommit: True if the statement was a COMMIT. One that the server broke off may
    ///   have been carried out; one that it refused was not. A coordinator has an internal error
    ///   when a worker did not confirm its commit.
    package init(_ state: SQLState, isCommit: Bool = false) {
        switch state {
        case .serializationFailure, .deadlockDetected: self = .retryable
        case .statementCompletionUnknown: self = .unknownOutcome
        case .uniqueViolation: self = .conflict
        case .queryCanceled, .lockNotAvailable, .readOnlyTransaction: self = .unavailable
        default:
            switch state.category {
            case "08", "57": self = isCommit ? .unknownOutcome : .connectionLost
            case "53", "55", "58": self = .unavailable
            case "22", "23": self = .rejected
            case "XX": self = isCommit ? .unknownOutcome : .corrupt
            // A plan, a statement or a transaction in an unexpected state: connect anew.
            case "0A", "25", "26": self = .connectionLost
            default: self = .refused
            }
        }
    }
}
