/// Reads that somebody acts on, who hands out goods for instance: what they tell stays.
///
/// A database that waits for a replica shows a payment before the replica has it once that wait was
/// given up, or it has been started anew in between. If it dies then and the replica takes over,
/// the payment is gone. But a commit waits until the replica has all that came before it: a record
/// that is read is locked and committed once more by the writer, along with whatever else waits
/// there; an account is told once something was committed after it was read.
struct DurableReads: Sendable {
    let store: any LedgerStorage
    let writer: LedgerWriter

    func record(_ id: RecordID) async throws(LedgerError) -> Record? {
        guard let record = try await store.record(id) else { return nil }
        try await commit(after: record)
        return record
    }

    func record(named name: String) async throws(LedgerError) -> NamedRecord? {
        guard let named = try await store.record(named: name) else { return nil }
        try await commit(after: named.record)
        return named
    }

    func answer(_ key: Answer.Key) async throws(LedgerError) -> Answer? {
        guard let answer = try await store.answer(key) else { return nil }
        if answer.step != nil { try await commit(after: answer.record) }
        return answer
    }

    func history(
        of account: Account.Key,
        _ range: HistoryRange
    ) async throws(LedgerError) -> AccountHistory? {
        guard let history = try await store.history(of: account, range) else { return nil }
        guard store.readsAhead else { return history }
        let newest = try await store.history(
            of: account,
            HistoryRange(.newest(skipping: 0), limit: 1)
        )
        // Any commit will do. That of the probe, which has one row for all servers, would make them
        // wait for each other.
        if let record = newest?.entries.first?.record {
            try await commit(after: record.id)
        } else {
            _ = try await writer.submit(Probe())
        }
        return history
    }

    /// A record that nothing happens to by itself any more is one that somebody may act on.
    private func commit(after record: Record) async throws(LedgerError) {
        if record.dueAt == nil { try await commit(after: record.id) }
    }

    private func commit(after record: RecordID) async throws(LedgerError) {
        guard store.readsAhead else { return }
        _ = try await writer.submit(Touch(record: record))
    }
}
