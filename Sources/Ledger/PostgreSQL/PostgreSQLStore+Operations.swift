internal import Postgres

extension PostgreSQLStore: OperationsStore {
    package func storeReading() async throws(LedgerError) -> StoreReading {
        try await wrapping(.tryAgain) { try await reader.storeReading() }
    }
}

extension PostgreSQLReader {
    fileprivate func storeReading() throws -> StoreReading {
        try query(StoreReading.query(live: "open_sessions"), [], read: { try $0.storeReading() })
            .first ?? StoreReading()
    }
}
