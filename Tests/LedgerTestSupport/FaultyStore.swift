package import GotchuCore
package import Ledger
internal import Synchronization

/// A store whose commits fail or wait if a test wants this. Otherwise it forwards all calls to
/// another store.
package final class FaultyStore: LedgerStorage {
    private let store: any LedgerStorage
    private let failure = Mutex<LedgerError?>(nil)
    private let gate = Gate()

    package var expiryMargin: Duration { store.expiryMargin }
    package var now: Timestamp { store.now }
    package var mayReadUnreplicated: Bool { store.mayReadUnreplicated }
    package var changes: ChangeMailbox? { store.changes }

    package init(_ store: any LedgerStorage) {
        self.store = store
    }

    /// Sets the error that all further commits throw; `nil` if they succeed.
    package func fail(with error: LedgerError?) {
        failure.withLock { $0 = error }
    }

    /// Makes commits wait until `release` is called.
    package func hold() async { await gate.close() }

    package func release() async { await gate.open() }

    /// Returns once a commit waits at the gate.
    package func waitForCommit() async { await gate.waitForArrival() }

    package func commit(_ batch: Batch) async throws(LedgerError) -> Effects {
        await gate.pass()
        if let error = failure.withLock({ $0 }) { throw error }
        return try await store.commit(batch)
    }

    package func record(_ id: RecordID) async throws(LedgerError) -> Record? {
        try await store.record(id)
    }

    package func record(named name: String) async throws(LedgerError) -> NamedRecord? {
        try await store.record(named: name)
    }

    package func answer(_ key: Answer.Key) async throws(LedgerError) -> Answer? {
        try await store.answer(key)
    }

    package func history(
        of account: Account.Key,
        _ range: HistoryRange
    ) async throws(LedgerError) -> AccountHistory? {
        try await store.history(of: account, range)
    }

    package func earnings(
        of account: Account.Key,
        _ range: EarningsRange
    ) async throws(LedgerError) -> AccountEarnings? {
        try await store.earnings(of: account, range)
    }

    package func records(_ page: RecordPage) async throws(LedgerError) -> [Record] {
        try await store.records(page)
    }

    package func children(
        of parent: RecordID,
        after: Int64,
        limit: Int
    ) async throws(LedgerError) -> [NumberedRecord] {
        try await store.children(of: parent, after: after, limit: limit)
    }

    package func due(
        at time: Timestamp,
        excluding kinds: [String],
        skipping: Int,
        limit: Int
    ) async throws(LedgerError) -> [DueRecord] {
        try await store.due(at: time, excluding: kinds, skipping: skipping, limit: limit)
    }

    package func claimDue(
        kind: String,
        at time: Timestamp,
        until leaseEnd: Timestamp,
        limit: Int
    ) async throws(LedgerError) -> [DueRecord] {
        try await store.claimDue(kind: kind, at: time, until: leaseEnd, limit: limit)
    }
}

/// A gate that lets callers pass while it is open and makes them wait while it is closed. Tests can
/// wait until a caller arrives at the closed gate.
package actor Gate {
    private var isOpen = true
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private var watchers: [CheckedContinuation<Void, Never>] = []

    package init() {}

    package func close() { isOpen = false }

    package func open() {
        isOpen = true
        for continuation in waiting { continuation.resume() }
        waiting = []
    }

    package func pass() async {
        guard !isOpen else { return }
        await withCheckedContinuation { continuation in
            waiting.append(continuation)
            for watcher in watchers { watcher.resume() }
            watchers = []
        }
    }

    package func waitForArrival() async {
        guard waiting.isEmpty else { return }
        await withCheckedContinuation { watchers.append($0) }
    }
}
