internal import SQLite

extension SQLiteStore: OperationsStore {
    package func liveSessionCount() async throws(LedgerError) -> Int {
        try await wrapping(.tryAgain) { try await reader.liveSessionCount() }
    }
}

extension SQLiteReader {
    fileprivate func liveSessionCount() throws -> Int {
        // The conditions of the index sessions_alive, which holds these and no others.
        let counts = try connection.query(
            "SELECT count(*) FROM sessions WHERE status IN ('CREATED', 'ADVERTISING', 'LOCKED')",
            read: { try $0.integer(0) }
        )
        return Int(counts.first ?? 0)
    }
}
