internal import Synchronization

/// The records that another server may have changed.
package enum ChangedRecords: Equatable, Sendable {
    case some([RecordID])
    /// Any record: notifications may have been missed.
    case all
}

/// Collects the ids of records that other servers have changed until they are read.
///
/// State, not history: a record that changes ten times meanwhile is read once. Beyond a number of
/// ids every watched record is read.
package final class ChangeMailbox: Sendable {
    private static let limit = 4_096

    private struct State {
        var records: Set<RecordID> = []
        var isEverything = false
        var reader: AsyncStream<Void>.Continuation?
    }

    private let state = Mutex(State())

    package init() {}

    /// Signals arrivals, to one reader at a time.
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

    /// Removes and returns what has arrived.
    func take() -> ChangedRecords {
        state.withLock { state in
            defer { (state.records, state.isEverything) = ([], false) }
            return state.isEverything ? .all : .some(Array(state.records))
        }
    }
}
