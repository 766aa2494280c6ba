package import GotchuCore

/// Reads of committed data, through a running ledger or directly from a database.
package protocol LedgerReads: Sendable {
    /// The time of the clock that determines when records expire. All servers of a database use the
    /// same clock.
    var now: Timestamp { get }

    /// Reads a record by its id.
    func record(_ id: RecordID) async throws(LedgerError) -> Record?

    /// Reads a range of an account's history, newest first; `nil` if there is no such account.
    func history(
        of account: Account.Key,
        _ range: HistoryRange
    ) async throws(LedgerError) -> AccountHistory?

    /// Reads the earnings of an account; `nil` if there is no such account.
    func earnings(
        of account: Account.Key,
        _ range: EarningsRange
    ) async throws(LedgerError) -> AccountEarnings?
}

/// A database for the ledger. It loads and writes rows and makes no decisions.
package protocol LedgerStorage: LedgerReads {
    /// Commits a batch durably in one transaction: loads its footprint, decides it, and writes its
    /// effects.
    ///
    /// Cancelling the caller does not stop it: the transaction may contain other callers' payments.
    ///
    /// - Throws: `unknownOutcome` if it may have been committed; any other error if nothing was.
    func commit(_ batch: Batch) async throws(LedgerError) -> Effects

    /// Reads the record that a name refers to or has referred to.
    func record(named name: String) async throws(LedgerError) -> NamedRecord?

    /// Reads the stored answer of a key.
    func answer(_ key: Answer.Key) async throws(LedgerError) -> Answer?

    /// Reads a page of records of a kind, newest first.
    func records(_ page: RecordPage) async throws(LedgerError) -> [Record]

    /// Reads a record's children with numbers above `after`, sorted by number.
    func children(
        of parent: RecordID,
        after: Int64,
        limit: Int
    ) async throws(LedgerError) -> [NumberedRecord]

    /// Returns the records that are due, the longest due first.
    ///
    /// - Parameter kinds: The kinds to exclude.
    func due(
        at time: Timestamp,
        excluding kinds: [String],
        skipping: Int,
        limit: Int
    ) async throws(LedgerError) -> [DueRecord]

    /// Leases records of a kind that are due and not leased, the longest due first.
    func claimDue(
        kind: String,
        at time: Timestamp,
        until leaseEnd: Timestamp,
        limit: Int
    ) async throws(LedgerError) -> [DueRecord]

    /// Notifies the other servers of the database, if any, that a payer's device was noticed at a
    /// record.
    func notify(noticed record: RecordID) async throws(LedgerError)

    /// The delay between a record's expiry and the recording of it. Another server of the database
    /// may have accepted a payment before the expiry.
    var expiryMargin: Duration { get }

    /// A Boolean that is true if a read may return data that could still be lost in a failover,
    /// because the replica does not have it yet.
    var mayReadUnreplicated: Bool { get }

    /// The changes made by other servers; `nil` if there are no others.
    var changes: ChangeMailbox? { get }
}

extension LedgerReads {
    /// The local clock, for a database used by one machine.
    package var now: Timestamp { .now }
}

extension LedgerStorage {
    package var mayReadUnreplicated: Bool { false }
    /// Does nothing: a database with one server has no others to notify.
    package func notify(noticed record: RecordID) async throws(LedgerError) {}
}

/// A record that is due.
package struct DueRecord: Equatable, Sendable {
    package let id: RecordID
    package let kind: String

    package init(id: RecordID, kind: String) {
        self.id = id
        self.kind = kind
    }
}

/// A record with its number among its parent's children.
package struct NumberedRecord: Equatable, Sendable {
    package let number: Int64
    package let record: Record

    package init(number: Int64, record: Record) {
        self.number = number
        self.record = record
    }
}

/// A page of a list of records, newest first. Ids of listed kinds sort by time.
package struct RecordPage: Equatable, Sendable {
    /// The owner; `nil` for all owners.
    package let owner: UserID?
    package let kind: String
    /// The last record of the previous page; `nil` for the first page.
    package let before: RecordID?
    package let limit: Int

    package init(of owner: UserID?, kind: String, before: RecordID?, limit: Int) {
        self.owner = owner
        self.kind = kind
        self.before = before
        self.limit = limit
    }
}

/// A record found by one of its names.
package struct NamedRecord: Equatable, Sendable {
    package let record: Record
    package let ownerName: String
    /// The time at which the name expires; `nil` for never.
    package let until: Timestamp?

    package init(record: Record, ownerName: String, until: Timestamp?) {
        self.record = record
        self.ownerName = ownerName
        self.until = until
    }
}

/// A consistent snapshot of a range of an account's history.
package struct AccountHistory: Equatable, Sendable {
    package let account: Account
    /// The entries, newest first and without a gap, each with its record, if it has one.
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

/// A range of entries. Entries are numbered without gaps: any page is found by its numbers.
package struct HistoryRange: Equatable, Sendable {
    package enum Start: Equatable, Sendable {
        /// Starts after skipping this number of the newest entries.
        case newest(skipping: Int64)
        /// Starts at the entry before this number, regardless of newer entries.
        case before(Int64)
    }

    package let start: Start
    package let limit: Int

    package init(_ start: Start, limit: Int) {
        self.start = start
        self.limit = limit
    }

    /// The newest entry alone.
    package static let newest = HistoryRange(.newest(skipping: 0), limit: 1)
}

/// The mode in which a program opens a database.
package enum OpenMode: Sendable {
    /// Creates missing tables. For servers and `migrate`.
    case migrating
    /// Creates and changes no tables, because other processes may be using the database.
    case existingSchema
}
