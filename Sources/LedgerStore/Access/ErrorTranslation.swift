internal import Ledger
internal import Postgres
internal import SQLite

/// Runs `body` and translates its failure into a `LedgerError`.
///
/// - Parameter code: The code for a failure without one of its own, such as a lost connection.
func translatingErrors<Result>(
    _ code: LedgerError.Code,
    _ body: () throws -> Result
) throws(LedgerError) -> Result {
    do { return try body() } catch { throw ledgerError(error, code) }
}

/// Runs `body` and translates its failure into a `LedgerError`.
///
/// - Parameter code: The code for a failure without one of its own, such as a lost connection.
func translatingErrors<Result>(
    _ code: LedgerError.Code,
    _ body: () async throws -> Result
) async throws(LedgerError) -> Result {
    do { return try await body() } catch { throw ledgerError(error, code) }
}

private func ledgerError(_ error: any Error, _ code: LedgerError.Code) -> LedgerError {
    if let error = error as? LedgerError { return error }
    if let error = error as? PostgresError { return ledgerError(error, code) }
    guard let error = error as? SQLiteError else {
        return LedgerError(code, "The books cannot be reached.", underlying: error)
    }
    guard !error.mayBeCommitted else { return .unknown(error) }
    return switch error.code.primary {
    case .corrupt, .mismatch:
        LedgerError(
            .corrupt,
            "The database holds something that cannot be.",
            underlying: error,
            fix: "Run gotchu-server verify, and restore a backup if it finds damage."
        )
    case .notADatabase:
        LedgerError(
            .foreign,
            "The file is not a database.",
            underlying: error,
            fix: "Name a new file, or the file of a gotchu-server."
        )
    case .constraint:
        LedgerError(.rejected, "The database refused what was decided.", underlying: error)
    case .cannotOpen, .readOnly:
        LedgerError(
            .cannotOpen,
            "The database cannot be opened.",
            underlying: error,
            fix: "Check that the file and its folder exist and that this user may write there."
        )
    default:
        LedgerError(code, "The books cannot be reached.", underlying: error)
    }
}

private func ledgerError(_ error: PostgresError, _ code: LedgerError.Code) -> LedgerError {
    switch error.kind {
    case .malformedAddress:
        LedgerError(.cannotOpen, error.message, fix: "Write it as postgres://USER@HOST/DATABASE.")
    case .cannotConnect:
        LedgerError(
            code,
            "The database cannot be reached.",
            underlying: error,
            fix: "Check its address, that it runs and takes writes, and that this user may log in."
        )
    case .unknownOutcome:
        .unknown(error)
    case .rejected, .conflict:
        LedgerError(.rejected, "The database refused what was decided.", underlying: error)
    case .corrupt:
        LedgerError(
            .corrupt,
            "The database holds something that cannot be.",
            underlying: error,
            fix: "Run gotchu-server verify, and restore a backup if it finds damage."
        )
    case .refused where error.state == .insufficientPrivilege:
        LedgerError(
            .cannotOpen,
            "The database does not let this role do that.",
            underlying: error,
            fix:
                "Log in as the servers' role, or have its rights granted: see \"On PostgreSQL\" in "
                + "/usr/share/doc/gotchu-server/operations.md."
        )
    case .connectionLost, .retryable, .unavailable, .refused:
        LedgerError(code, "The books cannot be reached.", underlying: error)
    }
}

extension LedgerError {
    fileprivate static func unknown(_ error: any Error) -> LedgerError {
        LedgerError(
            .unknownOutcome,
            "It is not known whether the books were written.",
            underlying: error
        )
    }
}
