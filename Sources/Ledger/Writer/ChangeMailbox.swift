internal import Synchronization

/// The records and accounts that another server has changed, or may have changed.
package struct Changes: Equatable, Sendable {
    package var records: Set<RecordID> = []
    package var accounts: Set<Account.Key> = []
    /// The records at which another server noticed a payer's device: they are sent to watchers
    /// again.
    package var noticed: Set<RecordID> = []
    /// A Boolean that is true if any record or account may have changed, because notifications may
    /// have been missed.
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

/// A mailbox that collects the changes made by other servers until they are read.
///
/// Changes are merged: a record that changes ten times before it is read is read once. If there are
/// too many ids, everything watched is read instead.
package final class ChangeMailbox: Sendable {
    private static let limit = 4_096

    private struct State {
        var changes = Changes()
        var reader: AsyncStream<Void>.Continuation?
    }

    private let state = Mutex(State())

    package init() {}

    /// Returns a stream that signals arrivals; only the latest stream is signalled.
    func arrivals() -> AsyncStream<Void> {
        let (stream, reader) = AsyncStream.makeStream(
            of: Void.self,
            bufferingPolicy: .bufferingNewest(1)
        )
        state.withLock { $0.reader = reader }
        reader.yield()
        return stream
    }

    /// Adds changes. Notices beyond the limit are dropped: a lost one only means that a screen is
    /// not updated.
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

    /// Removes and returns all collected changes.
    func popAll() -> Changes {
        state.withLock { state in
            defer { state.changes = Changes() }
            return state.changes
        }
    }
}
