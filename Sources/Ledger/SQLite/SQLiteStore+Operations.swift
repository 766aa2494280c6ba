internal import SQLite

extension SQLiteStore: OperationsStore {
    package func storeReading() async throws(LedgerError) -> StoreReading {
        try await wrapping(.tryAgain) { try await reader.storeReading() }
    }
}

extension SQLiteReader {
    fileprivate func storeReading() throws -> StoreReading {
        try connection.query(
            StoreReading.query(live: "sessions WHERE \(Schema.isLive)"),
            read: { try $0.storeReading() }
        ).first ?? StoreReading()
    }
}
