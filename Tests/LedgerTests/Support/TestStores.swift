import GotchuCore
import Ledger
import Synchronization

/// A store that fails, or waits, when a test says so; otherwise the one behind it.
final class FaultyStore: LedgerStore {
    private let store: any LedgerStore
    private let failure = Mutex<LedgerError?>(nil)
    private let gate = Gate()
    private let looked = Atomic<Int>(0)

    var expiryMargin: Duration { store.expiryMargin }
    var changes: ChangeMailbox? { store.changes }

    init(_ store: any LedgerStore) {
        self.store = store
    }

    /// What the next commits fail with; `nil` for none.
    func fail(with error: LedgerError?) {
        failure.withLock { $0 = error }
    }

    /// How often transfers without a seal were looked for.
    var looks: Int { looked.load(ordering: .relaxed) }

    /// Holds commits until `release`.
    func hold() async { await gate.close() }

    func release() async { await gate.open() }

    /// Returns once a commit waits at the gate.
    func waitForCommit() async { await gate.waitForArrival() }

    func commit(
        touching footprint: Footprint,
        decide: @Sendable (Snapshot) -> Decision
    ) async throws(LedgerError) -> Decision {
        await gate.pass()
        if let error = failure.withLock({ $0 }) { throw error }
        return try await store.commit(touching: footprint, decide: decide)
    }

    func session(_ id: SessionID) async throws(LedgerError) -> Session? {
        try await store.session(id)
    }

    func published(_ eid: EID) async throws(LedgerError) -> PublishedSession? {
        try await store.published(eid)
    }

    func statement(
        of user: UserID,
        entries: Int
    ) async throws(LedgerError) -> WalletStatement? {
        try await store.statement(of: user, entries: entries)
    }

    func history(
        of user: UserID,
        in currency: Currency,
        _ range: WalletHistory.Range
    ) async throws(LedgerError) -> WalletHistory? {
        try await store.history(of: user, in: currency, range)
    }

    func send(_ key: SendKey) async throws(LedgerError) -> RememberedSend? {
        try await store.send(key)
    }

    func sealHead() async throws(LedgerError) -> Seal { try await store.sealHead() }

    func unsealed(
        after start: TransferID?,
        upTo end: TransferID?,
        _ size: Bite
    ) async throws(LedgerError) -> Unsealed {
        looked.add(1, ordering: .relaxed)
        return try await store.unsealed(after: start, upTo: end, size)
    }

    func transferCount(in stretch: Stretch) async throws(LedgerError) -> Int64 {
        try await store.transferCount(in: stretch)
    }

    func append(_ seals: [Seal]) async throws(LedgerError) { try await store.append(seals) }

    func due(at time: Timestamp, limit: Int) async throws(LedgerError) -> [SessionID] {
        try await store.due(at: time, limit: limit)
    }
}

/// Lets callers through, or makes them wait; an arrival at the closed gate can be waited for.
actor Gate {
    private var isOpen = true
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private var watchers: [CheckedContinuation<Void, Never>] = []

    func close() { isOpen = false }

    func open() {
        isOpen = true
        for continuation in waiting { continuation.resume() }
        waiting = []
    }

    func pass() async {
        guard !isOpen else { return }
        await withCheckedContinuation { continuation in
            waiting.append(continuation)
            for watcher in watchers { watcher.resume() }
            watchers = []
        }
    }

    func waitForArrival() async {
        guard waiting.isEmpty else { return }
        await withCheckedContinuation { watchers.append($0) }
    }
}
