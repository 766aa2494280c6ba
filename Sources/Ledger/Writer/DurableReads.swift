/// Reads whose results can no longer be lost. Callers may act on them, for example hand out goods.
///
/// A database with synchronous replication can show a payment that its replica does not have: the
/// wait for the replica was cancelled, or the database was restarted meanwhile. If the replica then
/// takes over, the payment is lost.
///
/// A commit returns only once the replica has all earlier commits. Therefore, after reading a
/// record in a final state, the writer locks it and commits once more, in one batch with other
/// commands. After reading an account's history, the writer commits once more too.
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

    func records(_ page: RecordPage) async throws(LedgerError) -> [Record] {
        let records = try await store.records(page)
        try await commit(afterOneOf: records)
        return records
    }

    func children(
        of parent: RecordID,
        after: Int64,
        limit: Int
    ) async throws(LedgerError) -> [NumberedRecord] {
        let children = try await store.children(of: parent, after: after, limit: limit)
        try await commit(afterOneOf: children.map(\.record))
        return children
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
        try await commit(afterEntriesOf: account)
        return history
    }

    func earnings(
        of account: Account.Key,
        _ range: EarningsRange
    ) async throws(LedgerError) -> AccountEarnings? {
        guard let earnings = try await store.earnings(of: account, range) else { return nil }
        try await commit(afterEntriesOf: account)
        return earnings
    }

    private func commit(afterEntriesOf account: Account.Key) async throws(LedgerError) {
        guard store.mayReadUnreplicated else { return }
        let newest = try await store.history(of: account, .newest)
        // Any commit is sufficient. The probe is avoided, because all servers share its one row and
        // would wait for each other.
        if let record = newest?.entries.first?.record {
            try await commit(after: record.id)
        } else {
            _ = try await writer.submit(Probe())
        }
    }

    /// Commits after reading records if one of them is in a final state. One commit covers them
    /// all.
    private func commit(afterOneOf records: [Record]) async throws(LedgerError) {
        if let final = records.first(where: { $0.dueAt == nil }) { try await commit(after: final) }
    }

    /// Commits after reading a record in a final state, because a reader may act on it.
    private func commit(after record: Record) async throws(LedgerError) {
        if record.dueAt == nil { try await commit(after: record.id) }
    }

    private func commit(after record: RecordID) async throws(LedgerError) {
        guard store.mayReadUnreplicated else { return }
        _ = try await writer.submit(Touch(record: record))
    }
}
