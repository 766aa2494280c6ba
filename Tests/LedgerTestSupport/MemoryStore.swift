package import GotchuCore
package import Ledger
internal import Synchronization

/// A store in memory.
package final class MemoryStore: LedgerStorage {
    private let state = Mutex(MemoryBooks())
    package let expiryMargin: Duration
    package let changes: ChangeMailbox?
    package let mayReadUnreplicated: Bool
    private let fixedTime: Timestamp?

    /// - Parameter fixedTime: The time at which the store's clock stands still; `nil` for the
    ///   machine's clock.
    package init(
        expiryMargin: Duration = .zero,
        changes: ChangeMailbox? = nil,
        mayReadUnreplicated: Bool = false,
        fixedTime: Timestamp? = nil
    ) {
        self.expiryMargin = expiryMargin
        self.changes = changes
        self.mayReadUnreplicated = mayReadUnreplicated
        self.fixedTime = fixedTime
    }

    package var now: Timestamp { fixedTime ?? .now }

    package var books: MemoryBooks { state.withLock { $0 } }

    package func commit(_ batch: Batch) async throws(LedgerError) -> Effects {
        try state.withLock { books throws(LedgerError) in
            do {
                let effects = batch.decide(on: books.load(batch))
                // Commands do not check the primary key, so the store checks it.
                for user in effects.newUsers where books.rows.users[user.id] != nil {
                    throw LedgerError(.rejected, "A user of this id is known.")
                }
                books.save(effects)
                return effects
            } catch let error as LedgerError {
                throw error
            } catch {
                throw LedgerError(.corrupt, "A row cannot be read.", underlying: error)
            }
        }
    }

    package func record(_ id: RecordID) async throws(LedgerError) -> Record? {
        books.rows.records[id]
    }

    package func record(named name: String) async throws(LedgerError) -> NamedRecord? {
        let rows = books.rows
        guard let name = rows.names[name],
            let record = rows.records[RecordID(trusted: name.target)]
        else { return nil }
        return NamedRecord(
            record: record,
            ownerName: rows.users[record.owner]?.displayName ?? "",
            until: name.until
        )
    }

    package func answer(_ key: Answer.Key) async throws(LedgerError) -> Answer? {
        books.rows.answers[key]
    }

    package func history(
        of account: Account.Key,
        _ range: HistoryRange
    ) async throws(LedgerError) -> AccountHistory? {
        let books = books
        guard let row = books.rows.accounts[account] else { return nil }
        let entries = books.transfers.values.flatMap(\.entries).filter { $0.account == account }
            .sorted { $0.number > $1.number }
        let newest =
            switch range.start {
            case .newest(let skipped): row.entryCount - skipped
            case .before(let number): number - 1
            }
        let page = entries.filter { $0.number <= newest }.prefix(range.limit)
        return AccountHistory(
            account: row,
            entries: page.map { ($0, books.rows.records[$0.transfer.record]) }
        )
    }

    package func earnings(
        of account: Account.Key,
        _ range: EarningsRange
    ) async throws(LedgerError) -> AccountEarnings? {
        let books = books
        guard let row = books.rows.accounts[account] else { return nil }
        let entries = books.transfers.values.flatMap(\.entries).filter { $0.account == account }
            .sorted { $0.number < $1.number }
        let counted = entries.filter { range.counted?.contains($0.at) ?? false }
        let numbers = range.counted.map { span in
            [span.lowerBound, span.upperBound].map { moment in
                (entries.last { $0.at < moment }?.number ?? 0) + 1
            }
        }
        return AccountEarnings(
            account: row,
            earned: range.marks.map { mark in entries.last { $0.at < mark }?.earned ?? 0 },
            numbers: numbers.map { $0[0]..<$0[1] } ?? 1..<row.entryCount + 1,
            slices: counted.map { entry in
                EarningsSlice(
                    start: Self.sliceStart(of: entry.at),
                    kind: entry.kind,
                    isDebit: entry.amount < 0,
                    count: 1,
                    amount: entry.amount
                )
            }
        )
    }

    private static func sliceStart(of moment: Timestamp) -> Timestamp {
        let length = EarningsRange.slice.wholeMilliseconds
        return Timestamp(milliseconds: moment.milliseconds / length * length)
    }

    package func records(_ page: RecordPage) async throws(LedgerError) -> [Record] {
        let records = books.rows.records.values.filter { record in
            record.kind == page.kind && page.owner.map { $0 == record.owner } ?? true
                && page.before.map { record.id.rawValue < $0.rawValue } ?? true
                && record.kind != "session"
        }
        return Array(records.sorted { $0.id.rawValue > $1.id.rawValue }.prefix(page.limit))
    }

    package func children(
        of parent: RecordID,
        after: Int64,
        limit: Int
    ) async throws(LedgerError) -> [NumberedRecord] {
        books.children(of: parent).filter { $0.number > after }.prefix(limit)
            .map(NumberedRecord.init)
    }

    package func due(
        at time: Timestamp,
        excluding kinds: [String],
        skipping: Int,
        limit: Int
    ) async throws(LedgerError) -> [DueRecord] {
        books.due(at: time).filter { !kinds.contains($0.kind) }.dropFirst(skipping)
            .prefix(limit).map(\.self)
    }

    package func claimDue(
        kind: String,
        at time: Timestamp,
        until leaseEnd: Timestamp,
        limit: Int
    ) async throws(LedgerError) -> [DueRecord] {
        state.withLock { $0.claimDue(kind: kind, at: time, until: leaseEnd, limit: limit) }
    }
}
