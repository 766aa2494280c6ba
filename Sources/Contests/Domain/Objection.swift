package import GotchuCore
package import Ledger

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

    init(id: RecordID, user: UserID, madeAt: Timestamp, body: Body) {
        self.id = id
        self.user = user
        self.madeAt = madeAt
        self.body = body
    }

    /// - Throws: `LedgerError` with `corrupt` if the record is not a possible objection.
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
        Record(once: Self.kind, id, of: user, at: madeAt, body)
    }
}
