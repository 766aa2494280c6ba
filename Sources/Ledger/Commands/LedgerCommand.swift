package import GotchuCore

/// A command that changes the ledger.
///
/// Deciding is a pure function of the rows and the time: no clock, no randomness, no database. A
/// command throws before its first change.
package protocol LedgerCommand: Sendable {
    associatedtype Outcome: Sendable

    /// The stored name: `pay`, `refund`.
    static var name: String { get }

    /// Adds the rows that it reads or changes.
    ///
    /// - Parameter rows: The rows loaded so far; `nil` in the first round. A command that needs
    ///   further rows depending on these sets `asksAgain`.
    func touch(_ footprint: inout Footprint, knowing rows: Snapshot?)

    func decide(on books: inout Books, at time: Timestamp) throws(Refusal) -> Outcome
}

/// A command that is sent with a key. The canonical JSON of its outcome is remembered, and a replay
/// renders the same bytes from it for ever.
package protocol KeyedCommand: LedgerCommand where Outcome: Codable {
    /// The record that it concerns. Its answer names the record of the transfer that it posted; if
    /// it posted none, this one.
    var record: RecordID { get }
}

/// A command whose outcome is a record: its id is remembered, and a replay shows the record as it
/// is then.
package protocol RecordCommand: KeyedCommand where Outcome == RecordID {}

/// The identity of a request whose answer is remembered.
package struct KeyedRequest: Equatable, Sendable {
    package let user: UserID
    package let key: IdempotencyKey
    package let fingerprint: Fingerprint
    /// The request's id, which its answer names.
    package let id: String
    /// A Boolean that is true if a refusal for an unknown session is remembered; otherwise the
    /// session is looked up again each time.
    var remembersUnknown = true

    package init(user: UserID, key: IdempotencyKey, fingerprint: Fingerprint, id: String) {
        self.user = user
        self.key = key
        self.fingerprint = fingerprint
        self.id = id
    }

    func answerKey(_ command: String) -> Answer.Key {
        Answer.Key(user: user, command: command, key: key)
    }
}

/// The answer to a request with a key.
package struct CommandReply<Outcome: Sendable>: Sendable {
    package let outcome: Result<Outcome, Refusal>
    /// The id of the request that was decided: of a replay, the first one's.
    package let requestID: String
    package let isReplay: Bool
    /// A Boolean that is true if the answer is stored.
    package let isRemembered: Bool
}

extension CommandReply {
    init(_ outcome: Result<Outcome, Refusal>, requestID: String, isRemembered: Bool = false) {
        self.init(
            outcome: outcome,
            requestID: requestID,
            isReplay: false,
            isRemembered: isRemembered
        )
    }
}

extension CommandReply where Outcome: Decodable {
    /// A remembered answer.
    ///
    /// - Throws: `LedgerError` with `corrupt` if it cannot be read.
    package init(_ answer: Answer) throws(LedgerError) {
        let outcome: Result<Outcome, Refusal> =
            switch answer.decision {
            case .outcome(let json): .success(try decoded(from: json))
            case .refused(let refusal): .failure(refusal)
            }
        self.init(
            outcome: outcome,
            requestID: answer.requestID,
            isReplay: true,
            isRemembered: true
        )
    }
}
