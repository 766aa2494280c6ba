internal import ServiceLifecycle
internal import Synchronization

/// Tells those who watch a record when it has changed, after the commit.
///
/// Run as a service it also gives watchers a sign of life now and then, and ends them all when the
/// program stops.
package final class RecordFeed: Service {
    /// The watchers that there may be in all, of one record, and by one login unless said. Each
    /// holds a connection, and some of those must be left for payments and for others.
    package static let watcherLimit = 12_000
    static let watchersPerRecordLimit = 16
    package static let usualWatchersPerLogin = 64
    /// Each watcher gets a sign of life after so many ticks of a second, by turns: not all at once.
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

    /// Changes of one record from now on, until the watcher lets go of it or the program stops.
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

    /// Gives signs of life until the program is to stop, then ends all watches.
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

    /// Gives a sign of life to those whose turn it is in this second.
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

    /// A Boolean that is true if anybody watches a record.
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
                // A bell leaves word and never calls back.
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
        // Outside of the lock: what its bell holds may end with it.
        _ = consume forgotten
    }
}

/// The limit that leaves no room for one more watcher.
package enum RecordFeedFull: Error {
    /// This login has as many as one may have.
    case ofLogin
    /// There are as many as there may be in all, or of this record.
    case ofAll
}
