package import GotchuCore
package import Ledger

/// The particulars of a kind of record that the provider knows too.
package protocol Particulars: Codable, Equatable, Sendable {
    associatedtype State: RawRepresentable, Sendable, Equatable where State.RawValue == String

    /// The stored name of the kind.
    static var kind: String { get }
    var amount: Money { get }
    /// The amounts of the facts that were booked, by their keys.
    var booked: [String: Int64] { get set }
    /// The time of the newest look.
    var lookedAt: Timestamp? { get }
    /// Returns false for particulars that no record of that state can have.
    func canBe(in state: State) -> Bool
}

/// A deposit, a withdrawal or a payee: a record that is looked at until the provider has said the
/// last about it.
package struct Subject<Body: Particulars>: Equatable, Sendable {
    package let id: RecordID
    package let owner: UserID
    package let createdAt: Timestamp
    package var state: Body.State
    /// 1 when made; grows by one with each change.
    package var version: Int64
    /// The time of the next look; `nil` once nothing more is expected.
    var lookAt: Timestamp?
    package var body: Body

    init(
        id: RecordID,
        owner: UserID,
        createdAt: Timestamp,
        state: Body.State,
        lookAt: Timestamp?,
        body: Body
    ) {
        self.id = id
        self.owner = owner
        self.createdAt = createdAt
        self.state = state
        self.version = 1
        self.lookAt = lookAt
        self.body = body
    }

    /// - Throws: `LedgerError` with `corrupt` if the record is none that there can be.
    package init(_ record: Record) throws(LedgerError) {
        let body: Body = try decoded(from: record.body)
        guard record.kind == Body.kind, let state = Body.State(rawValue: record.state),
            body.canBe(in: state)
        else { throw .corrupt("a \(Body.kind)") }
        id = record.id
        owner = record.owner
        createdAt = record.createdAt
        self.state = state
        version = record.version
        lookAt = record.dueAt
        self.body = body
    }

    package var record: Record {
        guard let json = try? canonicalJSON(body) else {
            preconditionFailure("particulars can be written as JSON")
        }
        return Record(
            id: id,
            kind: Body.kind,
            owner: owner,
            state: state.rawValue,
            version: version,
            createdAt: createdAt,
            dueAt: lookAt,
            body: json
        )
    }

    package var amount: Money { body.amount }

    /// Returns true if somebody who asks for it now should have it looked at: not more often than
    /// each second.
    package func isToBeLookedAt(at now: Timestamp) -> Bool {
        lookAt != nil && body.lookedAt.map { $0.duration(to: now) >= .seconds(1) } ?? true
    }
}

/// The decision about one observation.
package struct Next<Body: Particulars>: Equatable, Sendable {
    package var subject: Subject<Body>
    /// In the order in which they are booked.
    var postings: [Posting] = []
    /// The call to be made once all of this is committed.
    package var call: Call?
    /// The change that webhooks tell of.
    var event: FundingEvent?

    init(_ subject: Subject<Body>) {
        self.subject = subject
    }
}

/// The changes that merchants' own systems receive. The raw values are stored and sent.
package enum FundingEvent: String, CaseIterable, Sendable {
    case withdrawalPaid = "withdrawal.paid"
    case withdrawalFailed = "withdrawal.failed"
}

/// The times between two looks at an object that may change.
enum Pace {
    /// The time that a caller has to make the first call before the worker makes it.
    static let handover: Duration = .seconds(10)
    /// 5, 10, 20 … 900 s.
    static func open(_ looks: Int) -> Duration { .seconds(min(900, 5 << min(looks, 8))) }
    /// 1, 2, 4 … 60 s, for a call whose outcome is not known.
    static func retry(_ looks: Int) -> Duration { .seconds(min(60, 1 << min(looks, 6))) }
    /// For objects that wait for money or for a person.
    static let slow: Duration = .seconds(3_600)
    /// For payouts that are paid, and might still come back.
    static let settled: Duration = .seconds(6 * 3_600)
    /// The time between two full listings: the provider's lists may lag.
    static let listing: Duration = .seconds(600)
    /// The time for which a key repeats its call: the provider forgets keys after 24 hours.
    static let keyLife: Duration = .seconds(23 * 3_600)
    /// The largest amount of a fact, in minor units: larger ones are not believed.
    static let largestFact: Int64 = 1_000_000_000_000
}

/// The tries of one call that makes something at the provider.
package struct Tries: Codable, Equatable, Sendable {
    /// Part of the key: grows when the call is to be made anew.
    var attempt: Int = 1
    /// The time of the first call under the present key, in milliseconds; `nil` before it.
    var since: Int64?
    /// Full listings without the object.
    var listings: Int = 0

    /// Notes that the call is about to be made, or its object to be looked for.
    ///
    /// - Returns: True if the key may be used; the object must be looked for otherwise.
    mutating func begin(at now: Timestamp) -> Bool {
        guard let since else {
            since = now.milliseconds
            return true
        }
        return now < Timestamp(milliseconds: since).advanced(by: Pace.keyLife)
    }

    /// Takes another key.
    mutating func renew() { self = Tries(attempt: attempt + 1) }

    /// Notes a full listing without the object.
    ///
    /// - Returns: The time until the next step.
    mutating func isAbsent() -> Duration {
        listings += 1
        guard listings >= 2 else { return Pace.listing }
        renew()
        return .zero
    }
}
