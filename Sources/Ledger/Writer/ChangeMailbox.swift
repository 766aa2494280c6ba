internal import Synchronization

/// The records that somebody else may have changed.
package enum ChangedRecords: Equatable, Sendable {
    case some([RecordID])
    /// Something may have been missed.
    case all
}

/// Receives the ids of records that other servers have changed, until they are looked at.
///
/// State, not history: a record that changes ten times meanwhile is looked at once. When there are
/// too many ids all that is watched is looked at.
package final class ChangeMailbox: Sendable {
    private static let limit = 4_096

    private struct State {
        var records: Set<RecordID> = []
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

    package func put(_ changed: ChangedRecords) {
        let reader = state.withLock { state in
            switch changed {
            case .some(let records): state.records.formUnion(records)
            case .all: state.isEverything = true
            }
            if state.records.count > Self.limit {
                (state.records, state.isEverything) = ([], true)
            }
            return state.reader
        }
        reader?.yield()
    }

    /// Takes what has arrived.
    func take() -> ChangedRecords {
        state.withLock { state in
            defer { (state.records, state.isEverything) = ([], false) }
            return state.isEverything ? .all : .some(Array(state.records))
        }
    }
}
