internal import GotchuCore

extension ConnectedStore {
    package func session(_ id: SessionID) async throws(LedgerError) -> Session? {
        try await wrapping(.tryAgain) { try await reader.session(id) }
    }

    package func published(_ eid: EID) async throws(LedgerError) -> PublishedSession? {
        try await wrapping(.tryAgain) { try await reader.published(eid) }
    }

    package func statement(
        of user: UserID,
        entries: Int
    ) async throws(LedgerError) -> WalletStatement? {
        try await wrapping(.tryAgain) { try await reader.statement(of: user, entries: entries) }
    }

    package func history(
        of user: UserID,
        in currency: Currency,
        _ range: WalletHistory.Range
    ) async throws(LedgerError) -> WalletHistory? {
        try await wrapping(.tryAgain) { try await reader.history(of: user, in: currency, range) }
    }

    package func send(_ key: SendKey) async throws(LedgerError) -> RememberedSend? {
        try await wrapping(.tryAgain) { try await reader.send(key) }
    }

    package func due(at time: Timestamp, limit: Int) async throws(LedgerError) -> [SessionID] {
        try await wrapping(.tryAgain) { try await reader.due(at: time, limit: limit) }
    }

    package func sealHead() async throws(LedgerError) -> Seal {
        try await wrapping(.tryAgain) { try await reader.sealHead() }
    }

    package func unsealed(
        after start: TransferID?,
        upTo end: TransferID?,
        _ size: Bite
    ) async throws(LedgerError) -> Unsealed {
        try await wrapping(.tryAgain) { try await reader.unsealed(after: start, upTo: end, size) }
    }

    package func transferCount(in stretch: Stretch) async throws(LedgerError) -> Int64 {
        try await wrapping(.tryAgain) { try await reader.transferCount(in: stretch) }
    }

    package func storeReading() async throws(LedgerError) -> StoreReading {
        try await wrapping(.tryAgain) { try await reader.storeReading() }
    }

    package func use() async throws(LedgerError) -> BooksUse {
        try await wrapping(.tryAgain) { try await reader.use() }
    }
}
