/// An error from a PostgreSQL call.
package struct PostgresError: Error, Equatable, Sendable {
    /// The classification of the failure for the caller.
    package let kind: Kind
    /// The server's SQLSTATE, if the server reported the failure.
    package let state: SQLState?
    /// The message of the server or libpq. For display only; never compared. It contains no
    /// password and no row's values.
    package let message: String
    /// The statement, if there was one. It contains no values, because those are always bound.
    package let sql: String?

    package init(_ kind: Kind, state: SQLState? = nil, message: String, sql: String? = nil) {
        self.kind = kind
        self.state = state
        self.message = message
        self.sql = sql
    }

    /// The kind of a failure.
    package enum Kind: String, Sendable {
        /// The address of the database is malformed.
        case malformedAddress
        /// No server could be reached, or none accepted the login.
        case cannotConnect
        /// The connection was lost before anything was committed, or its state is unexpected and it
        /// must be replaced.
        case connectionLost
        /// The connection was lost or timed out during a possible commit.
        case unknownOutcome
        /// The transaction conflicted with another one; a retry may succeed.
        case retryable
        /// Another transaction has inserted the same unique key.
        case conflict
        /// The server cannot do this at present: locked, full, out of resources, read-only.
        case unavailable
        /// The server rejects these values; a retry cannot succeed.
        case rejected
        /// The result does not have the expected format.
        case corrupt
        /// The server does not understand or does not permit the statement.
        case refused
    }

    /// A Boolean that is true if the transaction may succeed when retried from its start.
    package var allowsRetry: Bool {
        switch kind {
        case .retryable, .conflict, .connectionLost: true
        case .malformedAddress, .cannotConnect, .unknownOutcome, .unavailable, .rejected, .corrupt,
            .refused:
            false
        }
    }
}

extension PostgresError: CustomStringConvertible {
    /// The maximum length of a quoted statement; those that create tables are pages long.
    private static let maximumStatementLength = 300

    package var description: String {
        let code = state.map { " [\($0)]" } ?? ""
        let place = sql.map { " in: \($0.prefix(Self.maximumStatementLength))" } ?? ""
        return "PostgreSQL: \(message)\(code)\(place)"
    }
}

extension PostgresError.Kind {
    /// Classifies an SQLSTATE.
    ///
    /// - Parameter isCommit: True if the statement was a COMMIT. If the server aborted the COMMIT,
    ///   the transaction may be committed; if the server refused it, it is not. A coordinator
    ///   (Citus) reports an internal error if a worker did not confirm its commit.
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
            // A plan, a statement or a transaction is in an unexpected state: reconnect.
            case "0A", "25", "26": self = .connectionLost
            default: self = .refused
            }
        }
    }
}
