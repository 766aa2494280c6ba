internal import GotchuCore
package import Ledger

/// The index of public contests: a record with the contests as children, numbered from 1 in the
/// order of publication. Drafts and private contests are not listed.
package struct ContestIndex: Equatable, Sendable {
    package static let kind = "contest-index"
    package static let id = RecordID(trusted: computedID("contest-index"))

    /// The number of the newest contest.
    package let count: Int64
    private let record: Record?

    private struct Body: Codable {
        let count: Int64
    }

    /// - Parameter record: `nil` before the first contest.
    /// - Throws: `LedgerError` with `corrupt` if the record is not an index.
    package init(_ record: Record?) throws(LedgerError) {
        self.record = record
        guard let record else {
            count = 0
            return
        }
        count = try decoded(Body.self, from: record.body).count
        guard record.kind == Self.kind, record.id == Self.id, count == record.version else {
            throw .corrupt("the index of contests")
        }
    }

    /// Returns the record of the index with one more contest.
    ///
    /// - Parameter organizer: The contest's organiser, who owns the index if this contest is the
    ///   first.
    fileprivate func next(_ organizer: UserID, at time: Timestamp) -> Record {
        Record(
            id: Self.id,
            kind: Self.kind,
            owner: record?.owner ?? organizer,
            state: "made",
            version: count + 1,
            createdAt: record?.createdAt ?? time,
            dueAt: nil,
            body: String(
                decoding: CanonicalJSON.bytes(of: Body(count: count + 1)),
                as: UTF8.self
            )
        )
    }
}

extension Books {
    /// The index of public contests.
    ///
    /// - Throws: `unreadable`.
    /// - Precondition: The index is in the footprint.
    var contestIndex: ContestIndex {
        get throws(Refusal) {
            guard let index = try? ContestIndex(rows.records[ContestIndex.id]) else {
                throw Refusal(.unreadable)
            }
            return index
        }
    }

    /// Adds a published contest to the index, if it is public.
    ///
    /// - Returns: Its number in the index; `nil` for a private contest.
    mutating func list(
        _ contest: Contest,
        in index: ContestIndex,
        at time: Timestamp
    ) -> Int64? {
        guard !contest.terms.isInviteOnly else { return nil }
        put(index.next(contest.organizer, at: time))
        adopt(contest.id, by: ContestIndex.id, number: index.count + 1)
        return index.count + 1
    }
}

/// An immutable record, written each time a contest enters the state `error`. Contests in error are
/// found through it.
package struct ContestStop: Equatable, Sendable {
    package static let kind = "contest-stop"

    package let contest: RecordID

    private struct Body: Codable {
        let contest: RecordID
    }

    /// - Throws: `LedgerError` with `corrupt` if the record is not a stop.
    package init(_ record: Record) throws(LedgerError) {
        guard record.kind == Self.kind else { throw .corrupt("a stop of a contest") }
        contest = try decoded(Body.self, from: record.body).contest
    }

    /// Returns the record for a contest that has just been stopped.
    ///
    /// - Parameter contest: The stopped contest, in its new version.
    static func record(of contest: Contest, at time: Timestamp) -> Record {
        let id = ContestID.stop(of: contest.id, version: contest.version, at: time)
        return Record(
            immutable: kind,
            id,
            of: contest.organizer,
            at: time,
            Body(contest: contest.id)
        )
    }
}
