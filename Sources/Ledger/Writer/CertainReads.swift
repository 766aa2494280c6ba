internal import GotchuCore

/// Reads that somebody acts on, who hands out goods for instance: what they tell stays.
///
/// A database that waits for a replica shows a payment before the replica has it once that wait was
/// given up, or it has been started anew in between. If it dies then and the replica takes over,
/// the payment is gone. But a commit waits until the replica has all that came before it, and that
/// is the way to be sure: a session that is read as paid is locked and committed once more by the
/// writer, along with whatever else waits there; a wallet, which any payment may have changed, is
/// told once something was committed after it was read.
struct CertainReads: Sendable {
    let store: any LedgerStore
    let writer: LedgerWriter

    func session(_ id: SessionID) async throws(LedgerError) -> Session? {
        guard let session = try await store.session(id) else { return nil }
        if session.status == .paid { try await makeSure(of: id) }
        return session
    }

    func send(_ key: SendKey) async throws(LedgerError) -> RememberedSend? {
        guard let send = try await store.send(key) else { return nil }
        if case .paid = send.outcome { try await makeSure(of: send.session) }
        return send
    }

    func published(_ eid: EID) async throws(LedgerError) -> PublishedSession? {
        guard let published = try await store.published(eid) else { return nil }
        if published.session.status == .paid { try await makeSure(of: published.session.id) }
        return published
    }

    func statement(
        of user: UserID,
        entries: Int
    ) async throws(LedgerError) -> WalletStatement? {
        let statement = try await store.statement(of: user, entries: entries)
        if let wallet = statement?.wallet { try await makeSure(of: wallet, of: user) }
        return statement
    }

    func history(
        of user: UserID,
        in currency: Currency,
        _ range: WalletHistory.Range
    ) async throws(LedgerError) -> WalletHistory? {
        let history = try await store.history(of: user, in: currency, range)
        if let wallet = history?.wallet { try await makeSure(of: wallet, of: user) }
        return history
    }

    /// Any commit will do. That of the probe, which has one row for all servers, would make them
    /// wait for each other.
    private func makeSure(of wallet: Wallet, of user: UserID) async throws(LedgerError) {
        guard store.readsAhead else { return }
        let newest = WalletHistory.Range(.newest(skipping: 0), limit: 1)
        let history = try await store.history(of: user, in: wallet.currency, newest)
        if let session = history?.entries.first?.session {
            try await makeSure(of: session)
        } else {
            _ = try await writer.submit(.probe)
        }
    }

    private func makeSure(of session: SessionID) async throws(LedgerError) {
        guard store.readsAhead else { return }
        // It changes nothing of what is paid, but locks the row, which makes the commit a real one.
        _ = try await writer.submit(.expire(session))
    }
}
