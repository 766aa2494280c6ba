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

/// The particulars of a record at whose object at the provider somebody looks.
protocol Watched: Particulars {
    /// The looks since it last changed.
    var looks: Int { get set }
    var lookedAt: Timestamp? { get set }
    var tries: Tries { get set }
}

extension Subject where Body: Watched {
    mutating func lookAgain(within delay: Duration, at now: Timestamp) {
        body.looks += 1
        body.lookedAt = now
        lookAt = now.advanced(by: delay)
    }

    /// Notes a full listing without the object that is looked for, and looks again in time.
    ///
    /// - Returns: True if it certainly is not there.
    mutating func isAbsent(at now: Timestamp) -> Bool {
        guard let next = body.tries.miss(at: now) else { return true }
        lookAgain(within: now.duration(to: next), at: now)
        return false
    }

    /// Takes another key for a call, and makes it at once.
    mutating func callAnew(at now: Timestamp) {
        body.tries.renew(at: now)
        lookAgain(within: .zero, at: now)
    }
}

/// A deposit, a withdrawal or a payee: a record that is looked at until the provider has said the
/// last about it.
package struct Subject<Body: Particulars>: Equatable, Sendable {
    package let id: RecordID
    package let owner: UserID
    package let createdAt: Timestamp
    package var state: Body.State
    /// 1 when made; grows by one with each change.
    package var version: Int64 = 1
    /// The time of the next look; `nil` once nothing more is expected.
    var lookAt: Timestamp?
    package var body: Body
}

extension Subject {
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

    /// Returns true if somebody who asks for it now should have it looked at.
    package func isToBeLookedAt(at now: Timestamp) -> Bool {
        lookAt != nil && !wasJustLookedAt(at: now)
    }

    /// Returns true within a second of the newest look.
    func wasJustLookedAt(at now: Timestamp) -> Bool {
        body.lookedAt.map { $0.duration(to: now) < .seconds(1) } ?? false
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
    /// For objects that wait for money.
    static let slow: Duration = .seconds(3_600)
    /// For objects that wait for the operator.
    static let held: Duration = .seconds(900)
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
///
/// A key repeats its call for as long as the provider remembers it, and no longer. So a call is
/// made only if nothing can have been made under a key that is forgotten by now: by a server that
/// was away, or by one whose books were lost and restored from an old copy. Otherwise its object
/// is looked for first.
package struct Tries: Codable, Equatable, Sendable {
    /// Part of the key: grows when the call is to be made anew.
    private(set) var attempt: Int = 1
    /// The time of the first call under the present key, in milliseconds; `nil` before it.
    private var since: Int64?
    /// The time at which nothing had been made, in milliseconds; `nil` for the record's beginning.
    private var nothingAt: Int64?
    /// The time of the first full listing without the object, in milliseconds.
    private var missedAt: Int64?
    /// A Boolean that is true while the object is looked for, which may be old.
    private(set) var isSearching = false

    init() {}

    /// Notes that the call is about to be made, or its object to be looked for. What a listing was
    /// without is looked for until it is found, or certain: another call may be carried out after
    /// that listing, and the next one would prove nothing of it.
    ///
    /// - Parameter creation: The record's beginning.
    /// - Returns: True if the key may be used; the object must be looked for otherwise.
    mutating func begin(at now: Timestamp, of creation: Timestamp) -> Bool {
        let start = Timestamp(milliseconds: since ?? nothingAt ?? creation.milliseconds)
        isSearching = missedAt != nil || now >= start.advanced(by: Pace.keyLife)
        if !isSearching { since = since ?? now.milliseconds }
        return !isSearching
    }

    /// Takes another key.
    ///
    /// - Parameter time: A time at which nothing had been made; `nil` for one that is not known.
    mutating func renew(at time: Timestamp?) {
        attempt += 1
        (since, nothingAt, missedAt) = (nil, time?.milliseconds ?? nothingAt, nil)
        isSearching = false
    }

    /// Has the object looked for before the next call, since something may have been made.
    mutating func doubt() {
        (since, nothingAt, missedAt) = (nil, 0, nil)
    }

    /// Notes a full listing without the object. Only a second one some time later proves anything:
    /// the provider's lists may lag.
    ///
    /// - Returns: The time of the second listing; `nil` if this is it.
    mutating func miss(at now: Timestamp) -> Timestamp? {
        let first = missedAt ?? now.milliseconds
        missedAt = first
        let next = Timestamp(milliseconds: first).advanced(by: Pace.listing)
        return now < next ? next : nil
    }
}
