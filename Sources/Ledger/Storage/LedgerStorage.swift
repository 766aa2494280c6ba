package import GotchuCore

/// A database for the ledger: it loads and writes rows, and decides nothing.
package protocol LedgerStorage: Sendable {
    /// In one transaction: loads the batch's footprint, has it decided, writes its effects and
    /// commits durably.
    ///
    /// The caller's cancellation does not stop it: the transaction may hold other people's
    /// payments.
    ///
    /// - Throws: `unknownOutcome` if it may have been committed; anything else if nothing was.
    func commit(_ batch: Batch) async throws(LedgerError) -> Effects

    /// A record by its id.
    func record(_ id: RecordID) async throws(LedgerError) -> Record?

    /// The record that a name stands for, or has stood for.
    func record(named name: String) async throws(LedgerError) -> NamedRecord?

    /// The answer that was given to a key.
    func answer(_ key: Answer.Key) async throws(LedgerError) -> Answer?

    /// A range of an account's history, newest first; `nil` if there is no such account.
    func history(
        of account: Account.Key,
        _ range: HistoryRange
    ) async throws(LedgerError) -> AccountHistory?

    /// Records whose time has come, the longest due first.
    func due(
        at time: Timestamp,
        skipping: Int,
        limit: Int
    ) async throws(LedgerError) -> [DueRecord]

    /// The time for which nobody writes down what time has done to a record, because another
    /// server of the same database may have accepted a payment for it in time.
    var expiryMargin: Duration { get }

    /// The time by which records expire: one and the same for all servers of the database.
    var now: Timestamp { get }

    /// A Boolean that is true if something that can be read may still be lost, because a replica
    /// that would take over does not have it yet.
    var readsAhead: Bool { get }

    /// Records that other servers may have changed; `nil` if there are no others.
    var changes: ChangeMailbox? { get }
}

extension LedgerStorage {
    /// A database of one machine goes by its clock.
    package var now: Timestamp { .now }
    package var readsAhead: Bool { false }
}

/// A record whose time has come.
package struct DueRecord: Equatable, Sendable {
    package let id: RecordID
    package let kind: String

    package init(id: RecordID, kind: String) {
        self.id = id
        self.kind = kind
    }
}

/// A record found by one of its names.
package struct NamedRecord: Equatable, Sendable {
    package let record: Record
    package let ownerName: String
    /// From then on the name stands for nothing.
    package let until: Timestamp?

    package init(record: Record, ownerName: String, until: Timestamp?) {
        self.record = record
        self.ownerName = ownerName
        self.until = until
    }
}

/// A range of an account's history, of one moment.
package struct AccountHistory: Equatable, Sendable {
    package let account: Account
    /// Newest first, without a gap, each with the record that it is about, if that is one.
    package let entries: [(entry: Entry, record: Record?)]

    package init(account: Account, entries: [(entry: Entry, record: Record?)]) {
        self.account = account
        self.entries = entries
    }

    package static func == (one: AccountHistory, other: AccountHistory) -> Bool {
        one.account == other.account
            && one.entries.elementsEqual(other.entries) { $0 == $1 }
    }
}

/// The entries that are asked for: numbered without a gap, so that any page is found at once.
package struct HistoryRange: Equatable, Sendable {
    package enum Start: Equatable, Sendable {
        /// A number of entries behind the newest.
        case newest(skipping: Int64)
        /// Right behind the entry of this number, whatever has come since.
        case after(Int64)
    }

    package let start: Start
    package let limit: Int

    package init(_ start: Start, limit: Int) {
        self.start = start
        self.limit = limit
    }
}

/// The opening of a database by a program.
package enum Opening: Sendable {
    /// Makes the tables: a server does, and who is told to.
    case migrating
    /// Changes nothing: others may be at work on the database.
    case asItIs
}
