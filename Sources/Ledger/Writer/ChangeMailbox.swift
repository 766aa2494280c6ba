internal import Synchronization

/// The records and accounts that another server has changed, or may have changed.
package struct Changes: Equatable, Sendable {
    package var records: Set<RecordID> = []
    package var accounts: Set<Account.Key> = []
    /// Records that another server repeats to its watchers, because a payer's device was noticed.
    package var noticed: Set<RecordID> = []
    /// A Boolean that is true if any record and account may have changed: notifications may have
    /// been missed.
    package var isEverything = false

    package init(
        records: Set<RecordID> = [],
        accounts: Set<Account.Key> = [],
        noticed: Set<RecordID> = [],
        isEverything: Bool = false
    ) {
        self.records = records
        self.accounts = accounts
        self.noticed = noticed
        self.isEverything = isEverything
    }

    package mutating func formUnion(_ other: Changes) {
        records.formUnion(other.records)
        accounts.formUnion(other.accounts)
        noticed.formUnion(other.noticed)
        isEverything = isEverything || other.isEverything
    }
}

/// Collects what other servers have changed until it is read.
///
/// State, not history: a record that changes ten times meanwhile is read once. Beyond a number of
/// ids everything watched is read.
package final class ChangeMailbox: Sendable {
    private static let limit = 4_096

    private struct State {
        var changes = Changes()
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

    /// Adds changes. Notices beyond the limit are dropped: one that is lost is a screen that stays
    /// as it is.
    package func put(_ changes: Changes) {
        guard changes != Changes() else { return }
        let reader = state.withLock { state in
            let room = Self.limit - state.changes.noticed.count
            var changes = changes
            changes.noticed = Set(changes.noticed.prefix(room))
            state.changes.formUnion(changes)
            if state.changes.records.count + state.changes.accounts.count > Self.limit {
                state.changes = Changes(noticed: state.changes.noticed, isEverything: true)
            }
            return state.reader
        }
        reader?.yield()
    }

    /// Removes and returns what has arrived.
    func popAll() -> Changes {
        state.withLock { state in
            defer { state.changes = Changes() }
            return state.changes
        }
    }
}
