internal import ServiceLifecycle
internal import Synchronization

/// Notifies the watchers of a record after each commit that changed it.
///
/// As a service it also sends watchers a regular sign of life, and ends all watches at shutdown.
package final class RecordFeed: Service {
    /// The limits of watchers: in all, of one record, and by one login unless set otherwise. Each
    /// holds a connection, and some connections must be left for payments.
    package static let watcherLimit = 12_000
    static let watchersPerRecordLimit = 16
    package static let usualWatchersPerLogin = 64
    /// The ticks of a second between two signs of life of one watcher; watchers take turns.
    private static let quietTicks = 15

    private typealias Watchers = [Int: RecordWatch.Mailbox]

    private struct State {
        var watchers: [RecordID: Watchers] = [:]
        var logins: [String: Int] = [:]
        var count = 0
        var nextID = 0
        var ticks = 0
        var isOver = false
    }

    package let watchersPerLogin: Int
    private let state = Mutex(State())

    package init(watchersPerLogin: Int = usualWatchersPerLogin) {
        self.watchersPerLogin = watchersPerLogin
    }

    /// Watches a record from now on, until the watch is released or the program stops.
    ///
    /// - Throws: If there are too many watchers already.
    package func watch(
        _ record: RecordID,
        by login: String
    ) throws(RecordFeedFull) -> RecordWatch {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        let watch = RecordWatch { [weak self] in
            self?.forget(id, of: record, by: login)
        }
        let full = state.withLock { state -> RecordFeedFull? in
            guard state.logins[login, default: 0] < watchersPerLogin else { return .ofLogin }
            guard state.count < Self.watcherLimit,
                state.watchers[record, default: [:]].count < Self.watchersPerRecordLimit
            else { return .ofAll }
            state.count += 1
            state.logins[login, default: 0] += 1
            state.watchers[record, default: [:]][id] = watch.mailbox
            return nil
        }
        if let full { throw full }
        if state.withLock({ $0.isOver }) { watch.mailbox.end() }
        return watch
    }

    /// Sends signs of life until shutdown, then ends all watches.
    package func run() async {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                // Signs of life are due by the clock; one timer serves all watches.
                try? await Task.sleep(for: .seconds(1))
                self.tick()
            }
        }
        end()
    }

    /// Sends a sign of life to the watchers whose turn is in this second.
    package func tick() {
        state.withLock { state in
            state.ticks += 1
            guard state.count > 0 else { return }
            for watchers in state.watchers.values {
                for (id, watcher) in watchers
                where (id + state.ticks).isMultiple(of: Self.quietTicks) { watcher.keepAlive() }
            }
        }
    }

    private func end() {
        let mailboxes = state.withLock { state in
            state.isOver = true
            return state.watchers.values.flatMap(\.values)
        }
        for mailbox in mailboxes { mailbox.end() }
    }

    /// The number of watchers at this moment.
    package var watcherCount: Int { state.withLock { $0.count } }

    /// Returns true if a record has a watcher.
    func isWatched(_ record: RecordID) -> Bool {
        state.withLock { $0.watchers[record] != nil }
    }

    /// All records that are watched.
    var watchedRecords: [RecordID] { state.withLock { Array($0.watchers.keys) } }

    func publish(_ records: [Record]) {
        state.withLock { state in
            guard state.count > 0 else { return }
            for record in records {
                guard let watchers = state.watchers[record.id] else { continue }
                // A watcher's callback only sets a flag and never calls back.
                for watcher in watchers.values { watcher.put(record) }
            }
        }
    }

    private func forget(_ id: Int, of record: RecordID, by login: String) {
        let forgotten = state.withLock { state -> RecordWatch.Mailbox? in
            guard let mailbox = state.watchers[record]?.removeValue(forKey: id) else { return nil }
            state.count -= 1
            state.logins[login, default: 0] -= 1
            if state.logins[login] == 0 { state.logins[login] = nil }
            if state.watchers[record]?.isEmpty == true { state.watchers[record] = nil }
            return mailbox
        }
        // Released outside the lock: its callback may end with it.
        _ = consume forgotten
    }
}

/// The limit that allows no further watcher.
package enum RecordFeedFull: Error {
    /// The limit of this login.
    case ofLogin
    /// The limit of all watchers, or of this record's.
    case ofAll
}
