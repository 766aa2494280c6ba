package import GotchuCore

/// The stored form of a session or another object that money moves for. Its details are a canonical
/// JSON body, so that a new kind of record needs no new table.
package struct Record: Equatable, Sendable {
    package let id: RecordID
    /// The name of its kind.
    package let kind: String
    package let owner: UserID
    /// The state, as defined by its kind.
    package let state: String
    /// The version: 1 for a new record, incremented with each change.
    package let version: Int64
    package let createdAt: Timestamp
    /// The time at which it must be processed next; `nil` once time no longer changes it.
    package let dueAt: Timestamp?
    package let body: String

    package init(
        id: RecordID,
        kind: String,
        owner: UserID,
        state: String,
        version: Int64,
        createdAt: Timestamp,
        dueAt: Timestamp?,
        body: String
    ) {
        self.id = id
        self.kind = kind
        self.owner = owner
        self.state = state
        self.version = version
        self.createdAt = createdAt
        self.dueAt = dueAt
        self.body = body
    }
}

/// The relation of a record to its parent. Never changed: a child keeps its one parent.
package struct Child: Equatable, Sendable {
    package let parent: RecordID
    /// The number, unique among the parent's children.
    package let number: Int64
    package let record: RecordID

    package init(parent: RecordID, number: Int64, record: RecordID) {
        self.parent = parent
        self.number = number
        self.record = record
    }
}

extension Record {
    /// The owners of the accounts that `Footprint.ownedRecords` adds.
    package var accountOwners: [Account.Owner] { [.user(owner), .houseOf(.take, owner)] }
}

/// The records of one kind that belong to one owner.
package struct RecordGroup: Hashable, Sendable {
    package let owner: UserID
    package let kind: String

    package init(owner: UserID, kind: String) {
        self.owner = owner
        self.kind = kind
    }
}

/// A unique name and the id that it refers to. All uniqueness in the ledger is enforced by these
/// rows or by primary keys.
package struct Name: Equatable, Sendable {
    package let text: String
    /// The id of a record or a user.
    package let target: String
    /// The time at which the name expires; `nil` for never.
    package let until: Timestamp?

    package init(_ text: String, target: String, until: Timestamp? = nil) {
        self.text = text
        self.target = target
        self.until = until
    }

    /// Returns true if the name has not expired at `time`.
    package func isAlive(at time: Timestamp) -> Bool { until.map { time < $0 } ?? true }
}

/// A user who can log in.
package struct User: Equatable, Codable, Sendable {
    package let id: UserID
    /// The identity at login, see `OpenAccount`; unique.
    package let login: String
    /// The name shown to payers.
    package let displayName: String
    package let createdAt: Timestamp
    /// The terms that the operator has set for the user.
    package var terms: Terms

    package init(
        id: UserID,
        login: String,
        displayName: String,
        createdAt: Timestamp,
        terms: Terms = Terms()
    ) {
        self.id = id
        self.login = login
        self.displayName = displayName
        self.createdAt = createdAt
        self.terms = terms
    }

    /// The terms agreed with one user; `nil` means the default.
    package struct Terms: Equatable, Codable, Sendable {
        /// The house's share of what the user is paid, in basis points.
        package var takeBasisPoints: Int64?
        /// The largest deposit, in minor units.
        package var depositMaximum: Int64?
        /// The largest balance allowed after a deposit, in minor units.
        package var balanceMaximum: Int64?

        package init(
            takeBasisPoints: Int64? = nil,
            depositMaximum: Int64? = nil,
            balanceMaximum: Int64? = nil
        ) {
            self.takeBasisPoints = takeBasisPoints
            self.depositMaximum = depositMaximum
            self.balanceMaximum = balanceMaximum
        }
    }

    /// Returns the unique name of a login.
    package static func name(ofLogin login: String) -> String { "login:\(login)" }
}

/// A change of a record, as sent to others.
package struct Event: Equatable, Sendable {
    /// The kind of event, defined by the record's kind; for example `session.paid`.
    package let kind: String
    package let record: Record
    package let at: Timestamp
    /// The amount of money moved, in minor units, if the record does not contain it.
    package let amount: Int64?
    /// The delay between the due time and the event, for metrics; not stored.
    package let lateness: Duration?

    package init(
        kind: String,
        record: Record,
        at: Timestamp,
        amount: Int64? = nil,
        lateness: Duration? = nil
    ) {
        self.kind = kind
        self.record = record
        self.at = at
        self.amount = amount
        self.lateness = lateness
    }

    /// The event's id. It never changes, because each version of a record exists once.
    package var id: String { "evt_\(record.id)_\(record.version)" }
}
