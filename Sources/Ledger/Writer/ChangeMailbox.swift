package import GotchuCore
internal import Synchronization

/// Which sessions somebody else may have changed.
package enum ChangedSessions: Equatable, Sendable {
    case some([SessionID])
    /// Something may have been missed.
    case all
}

/// Where a store leaves the names of sessions that other servers have changed, until they are
/// looked at.
///
/// State, not history: a session that changes ten times meanwhile is looked at once. When there are
/// too many names all that is watched is looked at.
package final class ChangeMailbox: Sendable {
    private static let limit = 4_096

    private struct State {
        var sessions: Set<SessionID> = []
        var isEverything = false
        var reader: AsyncStream<Void>.Continuation?
    }

    private let state = Mutex(State())

    package init() {}

    /// Says when there is something to be looked at. For one reader at a time.
    func arrivals() -> AsyncStream<Void> {
        let (stream, reader) = AsyncStream.makeStream(
            of: Void.self,
            bufferingPolicy: .bufferingNewest(1)
        )
        state.withLock { $0.reader = reader }
        reader.yield()
        return stream
    }

    package func put(_ changed: ChangedSessions) {
        let reader = state.withLock { state in
            switch changed {
            case .some(let sessions): state.sessions.formUnion(sessions)
            case .all: state.isEverything = true
            }
            if state.sessions.count > Self.limit {
                (state.sessions, state.isEverything) = ([], true)
            }
            return state.reader
        }
        reader?.yield()
    }

    /// Takes what has arrived.
    func take() -> ChangedSessions {
        state.withLock { state in
            defer { (state.sessions, state.isEverything) = ([], false) }
            return state.isEverything ? .all : .some(Array(state.sessions))
        }
    }
}
