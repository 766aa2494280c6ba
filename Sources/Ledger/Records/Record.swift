package import GotchuCore

/// A thing that money is about, as it is stored: a session, for instance. Its particulars are a
/// canonical JSON body, so that a new kind of record needs no table.
package struct Record: Equatable, Sendable {
    package let id: RecordID
    /// The name of its kind.
    package let kind: String
    package let owner: UserID
    /// The state, in the words of its kind.
    package let state: String
    /// 1 when made; grows by one with each change.
    package let version: Int64
    package let createdAt: Timestamp
    /// The time at which it wants to be looked at; `nil` once nothing happens to it by itself.
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

/// The records of one owner that are of one kind.
package struct RecordGroup: Hashable, Sendable {
    package let owner: UserID
    package let kind: String

    package init(owner: UserID, kind: String) {
        self.owner = owner
        self.kind = kind
    }
}

/// A unique name and what it stands for. Every uniqueness of the ledger is a row of these or a
/// primary key.
package struct Name: Equatable, Sendable {
    package let text: String
    /// The id of a record or a user.
    package let target: String
    /// From then on it stands for nothing; `nil` for ever.
    package let until: Timestamp?

    package init(_ text: String, target: String, until: Timestamp? = nil) {
        self.text = text
        self.target = target
        self.until = until
    }
}

/// Somebody who can log in.
package struct User: Equatable, Codable, Sendable {
    package let id: UserID
    /// The identity at login, see `OpenAccount`; unique.
    package let login: String
    /// The name that a payer is shown.
    package let displayName: String
    package let createdAt: Timestamp

    package init(id: UserID, login: String, displayName: String, createdAt: Timestamp) {
        self.id = id
        self.login = login
        self.displayName = displayName
        self.createdAt = createdAt
    }

    /// The unique name of a login.
    package static func name(ofLogin login: String) -> String { "login:\(login)" }
}

/// A change of a record that others are told of.
package struct Event: Equatable, Sendable {
    /// The kind, in the words of the record's kind: `session.paid`, for instance.
    package let kind: String
    package let record: Record
    package let at: Timestamp
    /// The money that moved with it, in minor units, where the record does not tell.
    package let amount: Int64?

    package init(kind: String, record: Record, at: Timestamp, amount: Int64? = nil) {
        self.kind = kind
        self.record = record
        self.at = at
        self.amount = amount
    }

    /// One id for ever: a record's version is made once.
    package var id: String { "evt_\(record.id)_\(record.version)" }
}
