internal import SQLite

/// Runs `body` and says what its failure means to the ledger.
///
/// - Parameter code: What a failure means that SQLite does not know better.
func wrapping<Result>(
    _ code: LedgerError.Code,
    _ body: () throws -> Result
) throws(LedgerError) -> Result {
    do { return try body() } catch { throw explained(error, code) }
}

/// Runs `body` and says what its failure means to the ledger.
///
/// - Parameter code: What a failure means that SQLite does not know better.
func wrapping<Result>(
    _ code: LedgerError.Code,
    _ body: () async throws -> Result
) async throws(LedgerError) -> Result {
    do { return try await body() } catch { throw explained(error, code) }
}

private func explained(_ error: any Error, _ code: LedgerError.Code) -> LedgerError {
    if let error = error as? LedgerError { return error }
    guard let error = error as? SQLiteError else {
        return LedgerError(code, "The books cannot be reached.", underlying: error)
    }
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
