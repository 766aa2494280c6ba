package import GotchuCore
package import Ledger

/// An organiser's statement on a result: declares a score revision as the result, or disputes it.
/// Never changed.
package struct Declaration: Equatable, Sendable {
    package static let kind = "contest-declaration"

    package let organizer: UserID
    package let madeAt: Timestamp
    package let body: Body

    package struct Body: Codable, Equatable, Sendable {
        package let contest: RecordID
        /// The number among the contest's declarations, from 1.
        package let number: Int64
        package let revision: Int64
        /// The reason for a dispute; `nil` if the revision was declared.
        package let dispute: String?
    }
}

extension Declaration {
    /// - Throws: `LedgerError` with `corrupt` if the record is not a valid declaration.
    package init(_ record: Record) throws(LedgerError) {
        guard record.kind == Self.kind else { throw .corrupt("a declaration") }
        self.init(
            organizer: record.owner,
            madeAt: record.createdAt,
            body: try decoded(Body.self, from: record.body)
        )
    }

    var record: Record {
        let id = ContestID.declaration(body.contest, number: body.number)
        return Record(immutable: Self.kind, id, of: organizer, at: madeAt, body)
    }
}

/// An entrant's objection to a result. Never changed.
package struct Objection: Equatable, Sendable {
    package static let kind = "contest-objection"

    package let id: RecordID
    package let user: UserID
    package let madeAt: Timestamp
    package let body: Body

    package struct Body: Codable, Equatable, Sendable {
        package let contest: RecordID
        package let revision: Int64
        package let entry: Int64
        package let name: String
        package let text: String
    }
}

extension Objection {
    /// - Throws: `LedgerError` with `corrupt` if the record is not a valid objection.
    package init(_ record: Record) throws(LedgerError) {
        guard record.kind == Self.kind else { throw .corrupt("an objection") }
        self.init(
            id: record.id,
            user: record.owner,
            madeAt: record.createdAt,
            body: try decoded(Body.self, from: record.body)
        )
    }

    var record: Record {
        Record(immutable: Self.kind, id, of: user, at: madeAt, body)
    }
}
