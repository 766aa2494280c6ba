internal import Crypto
internal import GotchuCore
package import Ledger

/// The ids and unique names of contests and what belongs to them.
package enum ContestID {
    /// The id of a contest as a caller writes it; `nil` unless it can be one.
    package static func record(_ text: String) -> RecordID? {
        text.isUUID ? RecordID(trusted: text) : nil
    }

    /// The unique name of one entry of one user in one contest.
    package static func entryName(_ contest: RecordID, _ user: UserID) -> String {
        "contest-entry:\(contest):\(user)"
    }

    /// The unique name of a time that a user has left a contest, counted from 1.
    static func leaveName(_ contest: RecordID, _ user: UserID, _ count: Int) -> String {
        "contest-leave:\(contest):\(user):\(count)"
    }

    /// The unique names by which it is known whether a user may enter a contest.
    static func names(forEntryOf user: UserID, in contest: RecordID) -> Set<String> {
        [entryName(contest, user), leaveName(contest, user, Contest.leaveLimit)]
    }

    /// The unique name of one objection of one user to one result of a contest.
    package static func objectionName(
        _ contest: RecordID,
        _ user: UserID,
        revision: Int64
    ) -> String {
        "contest-objection:\(contest):\(user):\(revision)"
    }

    /// The id of the entry that a desk's share buys: like others' it sorts by its time.
    static func entry(boughtBy share: SessionID, at time: Timestamp) -> RecordID {
        var words = DigestWords(of: share.rawValue)
        return RecordID.make(at: time, using: &words)
    }

    /// The id of the trace of a stop: it sorts by its time.
    static func stop(of contest: RecordID, version: Int64, at time: Timestamp) -> RecordID {
        var words = DigestWords(of: "\(contest) \(version)")
        return RecordID.make(at: time, using: &words)
    }

    /// The id of a contest's declaration.
    static func declaration(_ contest: RecordID, number: Int64) -> RecordID {
        RecordID(trusted: computedID("contest-declaration", contest.rawValue, String(number)))
    }

    /// The id of a contest's score revision.
    static func scores(_ contest: RecordID, revision: Int64) -> RecordID {
        RecordID(trusted: computedID("contest-scores", contest.rawValue, String(revision)))
    }
}

/// The kinds of a contest's children, which share its numbers.
package enum ContestChild {
    /// Entries have the numbers that people see, from 1.
    package static let entries: Range<Int64> = 1..<scoreBase
    static let scoreBase: Int64 = 1_000_000_000
    package static let objectionBase: Int64 = 2_000_000_000
    package static let declarationBase: Int64 = 3_000_000_000
}

extension Record {
    /// A record that is written once, and never changed.
    init(
        once kind: String,
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

/// Words that are always the same for one text, where decisions need what looks random.
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
