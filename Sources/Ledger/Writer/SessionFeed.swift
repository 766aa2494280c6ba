package import GotchuCore
internal import Synchronization

/// Tells those who watch a session when it has changed, after the commit.
///
/// State, not history: a slow watcher misses versions in between but never the newest one, so its
/// buffer is one session.
package final class SessionFeed: Sendable {
    /// How many watchers there may be in all, and of one session. Each holds a connection, and some
    /// of those must be left for payments.
    package static let watcherLimit = 2_048
    package static let watchersPerSessionLimit = 16

    private typealias Watchers = [Int: AsyncStream<Session>.Continuation]

    private struct State {
        var watchers: [SessionID: Watchers] = [:]
        var count = 0
        var nextID = 0
    }

    private let state = Mutex(State())

    package init() {}

    /// Changes of one session from now on; ends when the watcher stops reading.
    ///
    /// - Returns: `nil` if there are too many watchers already.
    package func watch(_ session: SessionID) -> AsyncStream<Session>? {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Session.self,
            bufferingPolicy: .bufferingNewest(1)
        )
        let id: Int? = state.withLock { state in
            guard state.count < Self.watcherLimit,
                state.watchers[session, default: [:]].count < Self.watchersPerSessionLimit
            else { return nil }
            state.nextID += 1
            state.count += 1
            state.watchers[session, default: [:]][state.nextID] = continuation
            return state.nextID
        }
        guard let id else { return nil }
        continuation.onTermination = { [weak self] _ in self?.forget(id, of: session) }
        return stream
    }

    /// How many watch at this moment.
    package var watcherCount: Int { state.withLock { $0.count } }

    func publish(_ sessions: [Session]) {
        state.withLock { state in
            guard state.count > 0 else { return }
            for session in sessions {
                guard let watchers = state.watchers[session.id] else { continue }
                // Yielding never calls back: termination handlers run only when a stream ends.
                for watcher in watchers.values { watcher.yield(session) }
            }
        }
    }

    private func forget(_ id: Int, of session: SessionID) {
        state.withLock { state in
            guard state.watchers[session]?.removeValue(forKey: id) != nil else { return }
            state.count -= 1
            if state.watchers[session]?.isEmpty == true { state.watchers[session] = nil }
        }
    }
}
