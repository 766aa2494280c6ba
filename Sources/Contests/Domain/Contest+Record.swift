package import GotchuCore
package import Ledger

/// The stored forms of contests, entries and score revisions.
extension Contest {
    /// - Throws: `LedgerError` with `corrupt` if the record is not a valid contest.
    package init(_ record: Record) throws(LedgerError) {
        guard record.kind == Self.kind, let state = State(rawValue: record.state) else {
            throw .corrupt("a contest")
        }
        let body = try decoded(Body.self, from: record.body)
        self.init(
            id: record.id,
            organizer: record.owner,
            createdAt: record.createdAt,
            state: state,
            version: record.version,
            body: body
        )
        guard body.terms.violation == nil, PrizeRules.known.contains(body.terms.rules),
            (0...body.terms.maxEntries).contains(body.entryCount),
            body.entryCount <= body.entryNumber, body.revision >= 0, body.objections >= 0,
            body.declarations >= 0,
            (state == .settled) == (body.settlement != nil),
            (state == .error) == (body.stateBeforeError != nil)
        else { throw .corrupt("a contest") }
    }

    package var record: Record {
        Record(
            id: id,
            kind: Self.kind,
            owner: organizer,
            state: state.rawValue,
            version: version,
            createdAt: createdAt,
            dueAt: dueAt,
            body: String(decoding: CanonicalJSON.bytes(of: body), as: UTF8.self)
        )
    }
}

/// A user's entry in a contest. It is written when the user joins, and again with another roster
/// or when the user leaves; a settlement changes only the contest.
package struct ContestEntry: Equatable, Sendable {
    package static let kind = "contest-entry"

    package let id: RecordID
    package let user: UserID
    let joinedAt: Timestamp
    package internal(set) var isCurrent = true
    package internal(set) var version: Int64 = 1
    package internal(set) var body: Body

    package struct Body: Codable, Equatable, Sendable {
        package let contest: RecordID
        package let number: Int64
        /// The fee that was paid, in minor units.
        package let fee: Int64
        /// The user's name at the time of joining.
        package let name: String
        package internal(set) var roster: [String] = []
        package internal(set) var rosterVersion: Int64 = 0
        /// The desk share that paid the fee; `nil` without a desk.
        package var share: SessionID?
    }

    package var contest: RecordID { body.contest }
    package var number: Int64 { body.number }
    package var roster: [String] { body.roster }

    private static let entered = "in"
    private static let left = "out"

    /// Returns true for the record of a current entry, whose user has not left.
    static func isCurrent(_ record: Record) -> Bool {
        record.kind == kind && record.state == entered
    }
}

extension ContestEntry {
    /// - Throws: `LedgerError` with `corrupt` if the record is not a valid entry.
    package init(_ record: Record) throws(LedgerError) {
        guard record.kind == Self.kind, [Self.entered, Self.left].contains(record.state) else {
            throw .corrupt("an entry")
        }
        let body = try decoded(Body.self, from: record.body)
        self.init(id: record.id, user: record.owner, joinedAt: record.createdAt, body: body)
        isCurrent = record.state == Self.entered
        version = record.version
        guard ContestChild.entries.contains(number), body.fee >= 0 else {
            throw .corrupt("an entry")
        }
    }

    package var record: Record {
        Record(
            id: id,
            kind: Self.kind,
            owner: user,
            state: isCurrent ? Self.entered : Self.left,
            version: version,
            createdAt: joinedAt,
            dueAt: nil,
            body: String(decoding: CanonicalJSON.bytes(of: body), as: UTF8.self)
        )
    }

    /// Returns the next version, with a change.
    func changed(_ change: (inout ContestEntry) -> Void) -> ContestEntry {
        var next = self
        change(&next)
        next.version += 1
        return next
    }
}

/// Scores that an organiser sent together. Never changed: a correction is a new revision.
package struct ScoreRevision: Equatable, Sendable {
    package static let kind = "contest-scores"
    /// The maximum number of scores in one revision.
    package static let limit = 500
    /// The maximum number of revisions of one contest.
    static let countLimit: Int64 = 1_000

    /// Returns the maximum size in bytes of all revisions of a contest with this number of entries.
    /// A declaration of the result reads all of them, and payments wait for that time.
    static func byteLimit(entries: Int64) -> Int64 { 2 << 20 + entries * 4 << 10 }

    package let organizer: UserID
    let scoredAt: Timestamp
    package let body: Body

    package struct Body: Codable, Equatable, Sendable {
        package let contest: RecordID
        package let revision: Int64
        package let scores: [Score]
    }
}

extension ScoreRevision {
    /// - Throws: `LedgerError` with `corrupt` if the record is not a valid revision.
    package init(_ record: Record) throws(LedgerError) {
        guard record.kind == Self.kind else { throw .corrupt("a score revision") }
        let body = try decoded(Body.self, from: record.body)
        guard record.id == ContestID.scores(body.contest, revision: body.revision),
            body.scores.count <= Self.limit, body.scores.allSatisfy(\.isPossible)
        else { throw .corrupt("a score revision") }
        self.init(organizer: record.owner, scoredAt: record.createdAt, body: body)
    }

    package var id: RecordID { ContestID.scores(body.contest, revision: body.revision) }

    package var record: Record {
        Record(immutable: Self.kind, id, of: organizer, at: scoredAt, body)
    }

    /// The SHA-256 of its scores, in hex.
    package var hash: String { sha256(record.body) }
}

extension Score {
    /// A Boolean that is true if the score is valid: sums of such scores stay within 64 bits.
    package var isPossible: Bool {
        let range = -Self.limit...Self.limit
        guard (entry == nil) != (player == nil), points.map(range.contains) ?? true,
            (values?.count ?? 0) <= Self.valueLimit
        else { return false }
        return (values ?? [:]).allSatisfy { key, value in
            guard key.utf8.count <= 32 else { return false }
            switch value {
            case .number(let number): return range.contains(number)
            case .text(let text): return text.utf8.count <= 200
            }
        }
    }
}
