/// Reads whose result cannot be lost any more, for callers that act on it: those who hand out
/// goods, for instance.
///
/// A database that waits for a replica shows a payment before the replica has it if that wait was
/// given up, or if the database was restarted in between. If it dies then and the replica takes
/// over, the payment is gone. But a commit waits until the replica has everything before it: so the
/// writer locks and commits a record once more after it was read, in one batch with other commands;
/// an account's history is returned once something was committed after it was read.
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
        guard store.readsAhead else { return }
        let newest = try await store.history(of: account, .newest)
        // Any commit will do. The probe's would not: it has one row for all servers, which would
        // wait for each other.
        if let record = newest?.entries.first?.record {
            try await commit(after: record.id)
        } else {
            _ = try await writer.submit(Probe())
        }
    }

    /// Commits after records of which one is in a final state: any commit is after all of them.
    private func commit(afterOneOf records: [Record]) async throws(LedgerError) {
        if let final = records.first(where: { $0.dueAt == nil }) { try await commit(after: final) }
    }

    /// Commits after a record in a final state, which a reader may act on.
    private func commit(after record: Record) async throws(LedgerError) {
        if record.dueAt == nil { try await commit(after: record.id) }
    }

    private func commit(after record: RecordID) async throws(LedgerError) {
        guard store.readsAhead else { return }
        _ = try await writer.submit(Touch(record: record))
    }
}
