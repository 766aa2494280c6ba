package import GotchuCore
package import Logging
package import ServiceLifecycle

/// The ledger's public interface: commands go to the one writer, reads to the store.
package struct Ledger: LedgerReads {
    package let feed: ChangeFeed
    package let metrics = LedgerMetrics()
    private let store: any LedgerStorage
    private let writer: LedgerWriter
    private let reads: DurableReads
    private let sweep: DueSweep
    private let relay: ChangeRelay?
    private let queueLimit: Int
    private let unknownRecords = DailyBudget(limit: DailyBudget.unknownRecords)

    /// - Parameters:
    ///   - kinds: The supported kinds of records.
    ///   - queueLimit: The number of commands that may wait for the next commit.
    ///   - watchersPerLogin: The number of records and accounts that one login may watch at once.
    package init(
        store: any LedgerStorage,
        kinds: [RecordKind],
        logger: Logger,
        queueLimit: Int = LedgerWriter.queueLimit,
        watchersPerLogin: Int = ChangeFeed.defaultWatchersPerLogin
    ) {
        self.store = store
        feed = ChangeFeed(watchersPerLogin: watchersPerLogin)
        self.queueLimit = queueLimit
        writer = LedgerWriter(
            store: store,
            feed: feed,
            logger: logger,
            metrics: metrics,
            queueLimit: queueLimit,
            clock: { store.now }
        )
        reads = DurableReads(store: store, writer: writer)
        sweep = DueSweep(store: store, writer: writer, kinds: kinds, logger: logger)
        relay = store.changes.map { [feed, reads] in
            ChangeRelay($0, reads: reads, feed: feed, now: { store.now }, logger: logger)
        }
    }

    /// The services that must run, in start order.
    package var services: [any Service] {
        let always: [any Service] = [writer, sweep]
        return relay.map { always + [$0] } ?? always
    }

    /// The ledger's clock, which determines when records expire.
    package var now: Timestamp { store.now }

    /// The time up to which records that are due may be recorded as expired.
    package var settledUntil: Timestamp { store.now.advanced(by: .zero - store.expiryMargin) }

    /// The number of commands that wait for the next commit.
    package var waitingCount: Int { writer.waitingCount }

    /// A Boolean that is true if the queue is more than half full: optional commands should wait.
    package var isBusy: Bool { waitingCount > queueLimit / 2 }

    /// Decides and commits a command without an idempotency key.
    package func submit<Command: LedgerCommand>(
        _ command: Command
    ) async throws(LedgerError) -> Result<Command.Outcome, Refusal> {
        try await writer.submit(command).outcome
    }

    /// Decides and commits a command once per idempotency key; a resend gets the same answer.
    package func submit<Command: KeyedCommand>(
        _ command: Command,
        as request: KeyedRequest
    ) async throws(LedgerError) -> CommandReply<Command.Outcome> {
        var request = request
        request.remembersUnknown = unknownRecords.spend(for: request.user, at: now)
        var isUsed = false
        defer {
            if request.remembersUnknown && !isUsed { unknownRecords.putBack(for: request.user) }
        }
        let reply = try await writer.submit(command, as: request)
        if case .failure(let refusal) = reply.outcome, refusal.isUnknownSession {
            isUsed = !reply.isReplay
        }
        return reply
    }

    /// Takes a part of a user's daily budget for rows that no command writes.
    ///
    /// - Throws: `dailyLimit` if the budget is spent.
    package func spend(_ bytes: Int, by user: UserID) throws(Refusal) {
        try writer.spend(bytes, by: user)
    }

    /// Returns a record as it is stored.
    package func record(_ id: RecordID) async throws(LedgerError) -> Record? {
        try await reads.record(id)
    }

    /// Returns the record that a unique name refers to, even if the name has expired.
    package func record(named name: String) async throws(LedgerError) -> NamedRecord? {
        try await reads.record(named: name)
    }

    /// Returns the stored answer of a key.
    package func answer(_ key: Answer.Key) async throws(LedgerError) -> Answer? {
        try await reads.answer(key)
    }

    /// Returns the newest records of a kind that a user owns, newest first. Sessions are not
    /// listed.
    ///
    /// - Parameter before: The last record of the previous page; `nil` for the first page.
    package func records(
        of owner: UserID,
        kind: String,
        before: RecordID?,
        limit: Int
    ) async throws(LedgerError) -> [Record] {
        try await reads.records(RecordPage(of: owner, kind: kind, before: before, limit: limit))
    }

    /// Returns the newest records of a kind, newest first. Sessions are not listed.
    package func records(
        kind: String,
        before: RecordID?,
        limit: Int
    ) async throws(LedgerError) -> [Record] {
        try await reads.records(RecordPage(of: nil, kind: kind, before: before, limit: limit))
    }

    /// Returns a record's children with numbers above `after`, sorted by number.
    package func children(
        of parent: RecordID,
        after: Int64,
        limit: Int
    ) async throws(LedgerError) -> [NumberedRecord] {
        try await reads.children(of: parent, after: after, limit: limit)
    }

    /// Returns the records that are due now, the longest due first.
    ///
    /// - Parameter kinds: The kinds to exclude.
    package func due(
        excluding kinds: [String],
        limit: Int
    ) async throws(LedgerError) -> [DueRecord] {
        try await store.due(at: store.now, excluding: kinds, skipping: 0, limit: limit)
    }

    /// Returns the records that are due now or later, the earliest first.
    ///
    /// - Parameter kinds: The kinds to exclude.
    package func scheduled(
        excluding kinds: [String],
        limit: Int
    ) async throws(LedgerError) -> [DueRecord] {
        let end = Timestamp(milliseconds: .max)
        return try await store.due(at: end, excluding: kinds, skipping: 0, limit: limit)
    }

    /// Leases records of a kind that are due, the longest due first. Until the lease ends, no other
    /// call returns them. No decision may rely on the lease.
    package func claimDue(
        kind: String,
        leaseFor lease: Duration,
        limit: Int
    ) async throws(LedgerError) -> [DueRecord] {
        let now = store.now
        return try await store.claimDue(
            kind: kind,
            at: now,
            until: now.advanced(by: lease),
            limit: limit
        )
    }

    /// Returns a range of an account's history, newest first; `nil` if there is no such account.
    package func history(
        of account: Account.Key,
        _ range: HistoryRange
    ) async throws(LedgerError) -> AccountHistory? {
        try await reads.history(of: account, range)
    }

    /// Returns the earnings of an account; `nil` if there is no such account.
    package func earnings(
        of account: Account.Key,
        _ range: EarningsRange
    ) async throws(LedgerError) -> AccountEarnings? {
        try await reads.earnings(of: account, range)
    }

    /// Sends a record to its watchers on all servers again, because a payer's device was noticed;
    /// at most once in two seconds. Nothing is stored, and a notice may be lost.
    package func notice(_ record: Record) async {
        guard feed.notice(record, at: now) else { return }
        try? await store.notify(noticed: record.id)
    }

    /// Commits a write, to prove that writing works.
    package func probe() async throws(LedgerError) {
        _ = try await writer.submit(Probe())
    }
}
