package import GotchuCore
package import Ledger

/// The body of a kind of record that also exists at the provider.
package protocol FundingBody: Codable, Equatable, Sendable {
    associatedtype State: RawRepresentable, Sendable, Equatable where State.RawValue == String

    /// The stored name of the kind.
    static var kind: String { get }
    var amount: Money { get }
    /// The amounts of the booked facts, by fact key.
    var booked: [String: Int64] { get set }
    /// The time of the newest refresh.
    var refreshedAt: Timestamp? { get }
    /// Returns false if no record in that state can have this body.
    func canBe(in state: State) -> Bool
}

/// The body of a record whose object at the provider is refreshed.
protocol RefreshableBody: FundingBody {
    /// The number of refreshes since its last change.
    var refreshCount: Int { get set }
    var refreshedAt: Timestamp? { get set }
    var attempts: CallAttempts { get set }
}

extension FundingRecord where Body: RefreshableBody {
    mutating func scheduleRefresh(within delay: Duration, at now: Timestamp) {
        body.refreshCount += 1
        body.refreshedAt = now
        refreshAt = now.advanced(by: delay)
    }

    /// Records a complete list without the object, and schedules the next search.
    ///
    /// - Returns: True if the object certainly does not exist.
    mutating func confirmAbsence(at now: Timestamp) -> Bool {
        guard let next = body.attempts.recordAbsence(at: now) else { return true }
        scheduleRefresh(within: now.duration(to: next), at: now)
        return false
    }

    /// Switches to another key, and schedules the call at once.
    mutating func retryWithNewKey(at now: Timestamp) {
        body.attempts.renew(at: now)
        scheduleRefresh(within: .zero, at: now)
    }
}

/// A deposit, a withdrawal or a payee: a record that is refreshed until its state at the provider
/// is final.
package struct FundingRecord<Body: FundingBody>: Equatable, Sendable {
    package let id: RecordID
    package let owner: UserID
    package let createdAt: Timestamp
    package var state: Body.State
    /// 1 when created; grows by one with each change.
    package var version: Int64 = 1
    /// The time of the next refresh; `nil` once nothing more is expected.
    var refreshAt: Timestamp?
    package var body: Body
}

extension FundingRecord {
    /// - Throws: `LedgerError` with `corrupt` if the record is not a possible one.
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
        refreshAt = record.dueAt
        self.body = body
    }

    package var record: Record {
        guard let json = try? canonicalJSON(body) else {
            preconditionFailure("the body can be written as JSON")
        }
        return Record(
            id: id,
            kind: Body.kind,
            owner: owner,
            state: state.rawValue,
            version: version,
            createdAt: createdAt,
            dueAt: refreshAt,
            body: json
        )
    }

    package var amount: Money { body.amount }

    /// Returns true if a request for it should refresh it from the provider.
    package func needsRefresh(at now: Timestamp) -> Bool {
        refreshAt != nil && !wasJustRefreshed(at: now)
    }

    /// Returns true within a second of the newest refresh.
    func wasJustRefreshed(at now: Timestamp) -> Bool {
        body.refreshedAt.map { $0.duration(to: now) < .seconds(1) } ?? false
    }
}

/// The decision about one observation.
package struct FundingDecision<Body: FundingBody>: Equatable, Sendable {
    /// The record as decided.
    package var subject: FundingRecord<Body>
    /// The postings, in booking order.
    var postings: [Posting] = []
    /// The call to make once all of this is committed.
    package var call: Call?
    /// The change that webhooks report.
    var event: FundingEvent?

    init(_ subject: FundingRecord<Body>) {
        self.subject = subject
    }
}

/// The changes that merchants' own systems receive. The raw values are stored and sent.
package enum FundingEvent: String, CaseIterable, Sendable {
    case withdrawalPaid = "withdrawal.paid"
    case withdrawalFailed = "withdrawal.failed"
}

/// The intervals between two refreshes of an object that may change.
enum Pace {
    /// The time that a caller has for the first call before the worker makes it.
    static let handover: Duration = .seconds(10)
    /// 5, 10, 20 … 900 s.
    static func open(_ refreshes: Int) -> Duration { .seconds(min(900, 5 << min(refreshes, 8))) }
    /// 1, 2, 4 … 60 s, for a call with an unknown outcome.
    static func retry(_ refreshes: Int) -> Duration { .seconds(min(60, 1 << min(refreshes, 6))) }
    /// For objects that wait for money.
    static let slow: Duration = .seconds(3_600)
    /// For objects that wait for the operator.
    static let held: Duration = .seconds(900)
    /// For paid payouts, which may still be returned.
    static let settled: Duration = .seconds(6 * 3_600)
    /// The interval between two complete lists: the provider's lists may lag.
    static let listing: Duration = .seconds(600)
    /// The time for which a key is used: the provider forgets keys after 24 hours.
    static let keyLife: Duration = .seconds(23 * 3_600)
    /// The largest amount of a fact, in minor units: larger ones are rejected as implausible.
    static let maximumAmount: Int64 = 1_000_000_000_000
}

/// The attempts at one call that creates something at the provider.
///
/// A key prevents a second object only while the provider remembers the key. If an object may have
/// been created under a key that is forgotten by now, it is searched for before the next call. This
/// can happen if the server was down, or if its ledger was restored from an old backup.
package struct CallAttempts: Codable, Equatable, Sendable {
    /// Part of the key: grows when the call is to be made with a new key.
    private(set) var attempt: Int = 1
    /// The time of the first call under the current key, in milliseconds; `nil` before it.
    private var since: Int64?
    /// A time at which no object existed, in milliseconds. `nil` stands for the record's creation.
    private var nothingAt: Int64?
    /// The time of the first complete list without the object, in milliseconds.
    private var missedAt: Int64?
    /// A Boolean that is true while the object, which may be old, is searched for.
    private(set) var isSearching = false

    init() {}

    /// A Boolean that is true if a call was made with the current key, as far as is known.
    var isKeyUsed: Bool { since != nil }

    /// Records that the call is about to be made, or that its object is about to be searched for.
    /// Once a list did not contain the object, the search continues until the object is found or
    /// certainly missing. Another call in between might be executed late, and the second list would
    /// not prove that its object is missing.
    ///
    /// - Parameter creation: The time of the record's creation.
    /// - Returns: True if the key may be used; otherwise the object must be searched for.
    mutating func begin(at now: Timestamp, of creation: Timestamp) -> Bool {
        let start = Timestamp(milliseconds: since ?? nothingAt ?? creation.milliseconds)
        isSearching = missedAt != nil || now >= start.advanced(by: Pace.keyLife)
        if !isSearching { since = since ?? now.milliseconds }
        return !isSearching
    }

    /// Switches to another key.
    ///
    /// - Parameter time: A time at which no object existed; `nil` if none is known.
    mutating func renew(at time: Timestamp?) {
        attempt += 1
        (since, nothingAt, missedAt) = (nil, time?.milliseconds ?? nothingAt, nil)
        isSearching = false
    }

    /// Requires a search for the object before the next call, since it may have been created.
    mutating func requireSearch() {
        (since, nothingAt, missedAt) = (nil, 0, nil)
    }

    /// Records a complete list without the object. Only a second one after an interval is proof:
    /// the provider's lists may lag.
    ///
    /// - Returns: The time of the second list; `nil` if this is it.
    mutating func recordAbsence(at now: Timestamp) -> Timestamp? {
        let first = missedAt ?? now.milliseconds
        missedAt = first
        let next = Timestamp(milliseconds: first).advanced(by: Pace.listing)
        return now < next ? next : nil
    }
}
