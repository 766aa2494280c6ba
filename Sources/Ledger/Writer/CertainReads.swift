internal import GotchuCore

/// Reads that somebody acts on, who hands out goods for instance: what they tell stays.
///
/// A database that waits for a replica shows a payment before the replica has it once that wait was
/// given up, or it has been started anew in between. If it dies then and the replica takes over,
/// the payment is gone. But a commit waits until the replica has all that came before it, and that
/// is the way to be sure: a session that is read as paid is locked and committed once more by the
/// writer, along with whatever else waits there.
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

    private func makeSure(of session: SessionID) async throws(LedgerError) {
        guard store.readsAhead else { return }
        // It changes nothing of what is paid, but locks the row, which makes the commit a real one.
        _ = try await writer.submit(.expire(session))
    }
}
