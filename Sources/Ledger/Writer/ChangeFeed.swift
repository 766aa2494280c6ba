internal import GotchuCore
internal import ServiceLifecycle
internal import Synchronization

/// Notifies the watchers of a record or of an account after each commit that changed it.
///
/// As a service it also sends watchers a regular keep-alive, and ends all watches at shutdown.
package final class ChangeFeed: Service {
    /// The maximum number of all watchers. Each watcher holds a connection, and some connections
    /// must be left for payments. There is no limit per record or account: with one, a payer could
    /// use it up for a session, and the payee's till would get no events.
    package static let watcherLimit = 12_000
    /// The default maximum number of one login's watchers.
    package static let defaultWatchersPerLogin = 64
    /// The number of one-second ticks between two keep-alives to one watcher. The watchers' turns
    /// are spread over these ticks.
    private static let quietTicks = 15
    /// The time after a notice in which further ones about the same record are dropped.
    static let noticeInterval: Duration = .seconds(2)
    /// The maximum number of records whose last notice is stored; notices beyond it are dropped.
    private static let noticeLimit = 1_024

    private struct State {
        var records = Watchers<Record>()
        var accounts = Watchers<AccountHistory>()
        var logins: [String: Int] = [:]
        var notices: [RecordID: MonotonicTime] = [:]
        var count = 0
        var nextID = 0
        var ticks = 0
        var isOver = false
    }

    /// The watchers of one type of state.
    private typealias Part<Subject: Watched> =
        any WritableKeyPath<State, Watchers<Subject>> & Sendable

    package let watchersPerLogin: Int
    private let state = Mutex(State())

    package init(watchersPerLogin: Int = defaultWatchersPerLogin) {
        self.watchersPerLogin = watchersPerLogin
    }

    /// Watches a record until the watch is released or the program stops.
    ///
    /// - Throws: `ChangeFeedFull` if there are too many watchers already.
    package func watch(
        _ record: RecordID,
        by login: String
    ) throws(ChangeFeedFull) -> Watch<Record> {
        try watch(record, by: login, in: \.records)
    }

    /// Watches an account, in the same way as a record.
    package func watch(
        _ account: Account.Key,
        by login: String
    ) throws(ChangeFeedFull) -> Watch<AccountHistory> {
        try watch(account, by: login, in: \.accounts)
    }

    private func watch<Subject: Watched>(
        _ subject: Subject.Subject,
        by login: String,
        in part: Part<Subject>
    ) throws(ChangeFeedFull) -> Watch<Subject> {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        let watch = Watch<Subject> { [weak self] in
            self?.forget(id, of: subject, by: login, in: part)
        }
        let full = state.withLock { state -> ChangeFeedFull? in
            guard state.logins[login, default: 0] < watchersPerLogin else { return .perLogin }
            guard state.count < Self.watcherLimit else { return .allLogins }
            state.count += 1
            state.logins[login, default: 0] += 1
            state[keyPath: part].insert(watch.mailbox, id, of: subject)
            return nil
        }
        if let full { throw full }
        if state.withLock({ $0.isOver }) { watch.mailbox.end() }
        return watch
    }

    /// Sends keep-alives until shutdown, then ends all watches.
    package func run() async {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                // One timer serves the keep-alives of all watches.
                try? await Task.sleep(for: .seconds(1))
                self.tick()
            }
        }
        end()
    }

    /// Sends a keep-alive to the watchers whose turn is in this second.
    package func tick() {
        state.withLock { state in
            state.ticks += 1
            guard state.count > 0 else { return }
            let ticks = state.ticks
            let isTurn = { ($0 + ticks).isMultiple(of: Self.quietTicks) }
            state.records.keepAlive(whose: isTurn)
            state.accounts.keepAlive(whose: isTurn)
        }
    }

    private func end() {
        let (records, accounts) = state.withLock { state in
            state.isOver = true
            return (state.records.all, state.accounts.all)
        }
        for mailbox in records { mailbox.end() }
        for mailbox in accounts { mailbox.end() }
    }

    /// The current number of watchers.
    package var watcherCount: Int { state.withLock { $0.count } }

    /// Returns true if a record has a watcher.
    func isWatched(_ record: RecordID) -> Bool {
        state.withLock { $0.records.isWatched(record) }
    }

    /// Selects the records and accounts that have watchers.
    func watched(of changes: Changes) -> Changes {
        state.withLock { state in
            guard !changes.isEverything else {
                return Changes(
                    records: Set(state.records.subjects),
                    accounts: Set(state.accounts.subjects)
                )
            }
            return Changes(
                records: changes.records.filter(state.records.isWatched),
                accounts: changes.accounts.filter(state.accounts.isWatched)
            )
        }
    }

    func publish(_ record: Record) { state.withLock { $0.records.put(record) } }

    /// - Parameter account: An account with its newest entry.
    func publish(_ account: AccountHistory) { state.withLock { $0.accounts.put(account) } }

    /// Publishes the records and accounts that a commit wrote.
    func publish(_ effects: Effects) {
        state.withLock { state in
            guard state.count > 0 else { return }
            for record in effects.records { state.records.put(record) }
            guard !state.accounts.isEmpty else { return }
            for account in effects.histories(of: state.accounts.isWatched) {
                state.accounts.put(account)
            }
        }
    }

    /// Sends a record to its watchers again, because a payer's device was noticed. Stores nothing
    /// in the database.
    ///
    /// - Returns: False if nothing was sent: there was another notice within the interval, or too
    ///   many records were noticed.
    @discardableResult
    func notice(_ record: Record, at time: Timestamp, now: MonotonicTime = .now) -> Bool {
        state.withLock { state in
            if let last = state.notices[record.id], now - last < Self.noticeInterval {
                return false
            }
            if state.notices.count >= Self.noticeLimit {
                state.notices = state.notices.filter { now - $0.value < Self.noticeInterval }
            }
            guard state.notices.count < Self.noticeLimit else { return false }
            state.notices[record.id] = now
            state.records.put(record, noticedAt: time)
            return true
        }
    }

    private func forget<Subject: Watched>(
        _ id: Int,
        of subject: Subject.Subject,
        by login: String,
        in part: Part<Subject>
    ) {
        let forgotten = state.withLock { state -> Watch<Subject>.Mailbox? in
            guard let mailbox = state[keyPath: part].remove(id, of: subject) else { return nil }
            state.count -= 1
            state.logins[login, default: 0] -= 1
            if state.logins[login] == 0 { state.logins[login] = nil }
            return mailbox
        }
        // Released outside the lock: this may also release the watcher's callback.
        _ = consume forgotten
    }
}

/// The error for a watcher beyond one of the limits.
package enum ChangeFeedFull: Error {
    /// The limit per login.
    case perLogin
    /// The limit of all watchers.
    case allLogins
}

extension Effects {
    /// Returns the included accounts that were written, each with its newest entry and, if the same
    /// commit wrote it, that entry's record.
    fileprivate func histories(of isIncluded: (Account.Key) -> Bool) -> [AccountHistory] {
        var newest: [Account.Key: Entry] = [:]
        for entry in transfers.lazy.flatMap(\.entries) where isIncluded(entry.account) {
            newest[entry.account] = entry
        }
        guard !newest.isEmpty else { return [] }
        let known = Dictionary(uniqueKeysWithValues: records.map { ($0.id, $0) })
        return accounts.compactMap { account in
            newest[account.key].map { entry in
                AccountHistory(
                    account: account,
                    entries: [(entry: entry, record: known[entry.transfer.record])]
                )
            }
        }
    }
}
