package import GotchuCore

/// Reads of what was committed: of a running ledger, or of a database beside it.
package protocol LedgerReads: Sendable {
    /// The time by which records expire: the same for all servers of the database.
    var now: Timestamp { get }

    /// A record by its id.
    func record(_ id: RecordID) async throws(LedgerError) -> Record?

    /// A range of an account's history, newest first; `nil` if there is no such account.
    func history(
        of account: Account.Key,
        _ range: HistoryRange
    ) async throws(LedgerError) -> AccountHistory?

    /// Reads what an account earned; `nil` if there is no such account.
    func earnings(
        of account: Account.Key,
        _ range: EarningsRange
    ) async throws(LedgerError) -> AccountEarnings?
}

/// A database for the ledger: it loads and writes rows, and decides nothing.
package protocol LedgerStorage: LedgerReads {
    /// In one transaction: loads the batch's footprint, lets it decide, writes its effects and
    /// commits durably.
    ///
    /// Cancelling the caller does not stop it: the transaction may hold other callers' payments.
    ///
    /// - Throws: `unknownOutcome` if it may have been committed; any other error if nothing was.
    func commit(_ batch: Batch) async throws(LedgerError) -> Effects

    /// The record that a name stands for, or has stood for.
    func record(named name: String) async throws(LedgerError) -> NamedRecord?

    /// The answer that was given to a key.
    func answer(_ key: Answer.Key) async throws(LedgerError) -> Answer?

    /// A page of records of a kind, newest first.
    func records(_ page: RecordPage) async throws(LedgerError) -> [Record]

    /// A record's children with numbers above `after`, in the order of their numbers.
    func children(
        of parent: RecordID,
        after: Int64,
        limit: Int
    ) async throws(LedgerError) -> [NumberedRecord]

    /// Returns the records that are due, the longest due first.
    ///
    /// - Parameter kinds: Kinds that are left out.
    func due(
        at time: Timestamp,
        passing kinds: [String],
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

    /// Tells the other servers of the database, if there are any, that a record was noticed.
    func notify(noticed record: RecordID) async throws(LedgerError)

    /// The time for which expiry is not recorded, because another server of the same database may
    /// have accepted a payment in time.
    var expiryMargin: Duration { get }

    /// A Boolean that is true if a read may return what can still be lost, because a replica that
    /// would take over does not have it yet.
    var readsAhead: Bool { get }

    /// The changes by other servers; `nil` if there are no others.
    var changes: ChangeMailbox? { get }
}

extension LedgerReads {
    /// The clock of this machine, for a database on one machine.
    package var now: Timestamp { .now }
}

extension LedgerStorage {
    package var readsAhead: Bool { false }
    /// A database of one server has nobody to tell.
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

/// A page of a listing of records, newest first: ids of listed kinds are in the order of time.
package struct RecordPage: Equatable, Sendable {
    /// The owner; `nil` for everybody's.
    package let owner: UserID?
    package let kind: String
    /// The record behind which the page begins; `nil` for the first page.
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
    /// The time at which the name ends.
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

/// A range of entries: they are numbered without a gap, so that any page is found at once.
package struct HistoryRange: Equatable, Sendable {
    package enum Start: Equatable, Sendable {
        /// A number of entries behind the newest.
        case newest(skipping: Int64)
        /// The entries before the one of this number, whatever has come since.
        case after(Int64)
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
package enum Opening: Sendable {
    /// Makes missing tables: for servers and `migrate`.
    case migrating
    /// Makes and changes no tables: other processes may be using the database.
    case asItIs
}
