internal import Crypto
internal import GotchuCore
package import Ledger

/// The ids and unique names of contests and their child records.
package enum ContestID {
    /// Returns a contest's id from a caller's text, a UUID in either case; else `nil`.
    package static func parse(_ text: String) -> RecordID? {
        text.uuid.map(RecordID.init(trusted:))
    }

    /// Returns the unique name of a user's entry in a contest; a user has at most one.
    package static func entryName(_ contest: RecordID, _ user: UserID) -> String {
        "contest-entry:\(contest):\(user)"
    }

    /// Returns the unique name that is claimed when a user leaves a contest for the `count`th time.
    /// `count` starts at 1.
    static func leaveName(_ contest: RecordID, _ user: UserID, _ count: Int) -> String {
        "contest-leave:\(contest):\(user):\(count)"
    }

    /// Returns the unique names that show if a user may enter a contest.
    static func names(forEntryOf user: UserID, in contest: RecordID) -> Set<String> {
        [entryName(contest, user), leaveName(contest, user, Contest.leaveLimit)]
    }

    /// Returns the unique name of a user's objection to one result; a user has at most one.
    package static func objectionName(
        _ contest: RecordID,
        _ user: UserID,
        revision: Int64
    ) -> String {
        "contest-objection:\(contest):\(user):\(revision)"
    }

    /// Returns the id of the entry that a share of a desk buys. It is computed from the share's id
    /// and the time, and sorts by time like all entry ids.
    static func entry(boughtBy share: SessionID, at time: Timestamp) -> RecordID {
        var words = DigestWords(of: share.rawValue)
        return RecordID.make(at: time, using: &words)
    }

    /// Returns the id of a `ContestStop` record. These ids sort by time.
    static func stop(of contest: RecordID, version: Int64, at time: Timestamp) -> RecordID {
        var words = DigestWords(of: "\(contest) \(version)")
        return RecordID.make(at: time, using: &words)
    }

    /// Returns the id of a contest's declaration.
    static func declaration(_ contest: RecordID, number: Int64) -> RecordID {
        RecordID(trusted: computedID("contest-declaration", contest.rawValue, String(number)))
    }

    /// Returns the id of a contest's score revision.
    static func scores(_ contest: RecordID, revision: Int64) -> RecordID {
        RecordID(trusted: computedID("contest-scores", contest.rawValue, String(revision)))
    }
}

/// The number ranges of a contest's children, one for each kind.
package enum ContestChild {
    /// The numbers of entries, from 1, as people see them.
    package static let entries: Range<Int64> = 1..<scoreBase
    package static let scoreBase: Int64 = 1_000_000_000
    package static let objectionBase: Int64 = 2_000_000_000
    package static let declarationBase: Int64 = 3_000_000_000
}

extension Record {
    /// Creates a record that never changes.
    init(
        immutable kind: String,
        _ id: RecordID,
        of owner: UserID,
        at time: Timestamp,
        _ body: some Encodable
    ) {
        self.init(
            id: id,
            kind: kind,
            owner: owner,
            state: "made",
            version: 1,
            createdAt: time,
            dueAt: nil,
            body: String(decoding: CanonicalJSON.bytes(of: body), as: UTF8.self)
        )
    }
}

/// A deterministic generator: the same text yields the same numbers.
private struct DigestWords: RandomNumberGenerator {
    private let text: String
    private var count = 0

    init(of text: String) {
        self.text = text
    }

    mutating func next() -> UInt64 {
        count += 1
        let digest = SHA256.hash(data: Array("\(count)\n\(text)".utf8))
        return digest.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}
