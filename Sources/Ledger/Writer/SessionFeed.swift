package import GotchuCore
internal import ServiceLifecycle
internal import Synchronization

/// Tells those who watch a session when it has changed, after the commit.
///
/// Run as a service it also gives watchers a sign of life now and then, and ends them all when the
/// program stops.
package final class SessionFeed: Service {
    /// The watchers that there may be in all, of one session, and by one login unless said. Each
    /// holds a connection, and some of those must be left for payments and for others.
    package static let watcherLimit = 12_000
    package static let watchersPerSessionLimit = 16
    package static let usualWatchersPerLogin = 64
    /// Each watcher gets a sign of life after so many ticks of a second, by turns: not all at once.
    private static let quietTicks = 15

    private typealias Watchers = [Int: SessionWatch.Mailbox]

    private struct State {
        var watchers: [SessionID: Watchers] = [:]
        var logins: [Login: Int] = [:]
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

    /// News of one session from now on, until the watcher lets go of it or the program stops.
    ///
    /// - Throws: If there are too many watchers already.
    package func watch(
        _ session: SessionID,
        by login: Login
    ) throws(SessionFeedFull) -> SessionWatch {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        let watch = SessionWatch { [weak self] in
            self?.forget(id, of: session, by: login)
        }
        let full = state.withLock { state -> SessionFeedFull? in
            guard state.logins[login, default: 0] < watchersPerLogin else { return .ofLogin }
            guard state.count < Self.watcherLimit,
                state.watchers[session, default: [:]].count < Self.watchersPerSessionLimit
            else { return .ofAll }
            state.count += 1
            state.logins[login, default: 0] += 1
            state.watchers[session, default: [:]][id] = watch.mailbox
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

    /// How many watch at this moment.
    package var watcherCount: Int { state.withLock { $0.count } }

    /// Whether anybody watches a session.
    func isWatched(_ session: SessionID) -> Bool {
        state.withLock { $0.watchers[session] != nil }
    }

    /// All that is watched.
    var watchedSessions: [SessionID] { state.withLock { Array($0.watchers.keys) } }

    func publish(_ sessions: [Session]) {
        state.withLock { state in
            guard state.count > 0 else { return }
            for session in sessions {
                guard let watchers = state.watchers[session.id] else { continue }
                // A bell leaves word and never calls back.
                for watcher in watchers.values { watcher.put(session) }
            }
        }
    }

    private func forget(_ id: Int, of session: SessionID, by login: Login) {
        let forgotten = state.withLock { state -> SessionWatch.Mailbox? in
            guard let mailbox = state.watchers[session]?.removeValue(forKey: id) else { return nil }
            state.count -= 1
            state.logins[login, default: 0] -= 1
            if state.logins[login] == 0 { state.logins[login] = nil }
            if state.watchers[session]?.isEmpty == true { state.watchers[session] = nil }
            return mailbox
        }
        // Outside of the lock: what its bell holds may end with it.
        _ = consume forgotten
    }
}

/// The limit that leaves no room for one more watcher.
package enum SessionFeedFull: Error {
    /// This login has as many as one may have.
    case ofLogin
    /// There are as many as there may be in all, or of this session.
    case ofAll
}
