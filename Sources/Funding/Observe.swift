package import GotchuCore
package import Ledger

/// A decision about a deposit, a withdrawal or a payee. The kind is known only from the record.
enum AnyFundingDecision {
    case deposit(FundingDecision<DepositBody>)
    case withdrawal(FundingDecision<WithdrawalBody>)
    case payee(FundingDecision<PayeeBody>)

    /// Decides the effect of an observation on a record, or its next refresh if there is none.
    ///
    /// - Throws: `unreadable`, also for a record of another kind.
    init(
        _ record: Record,
        _ observation: Observation?,
        at time: Timestamp
    ) throws(Refusal) {
        do throws(LedgerError) {
            switch record.kind {
            case DepositBody.kind:
                let deposit = try Deposit(record)
                self = .deposit(
                    observation.map { Funding.next(deposit, $0, at: time) }
                        ?? Funding.planRefresh(of: deposit, at: time)
                )
            case WithdrawalBody.kind:
                let withdrawal = try Withdrawal(record)
                self = .withdrawal(
                    observation.map { Funding.next(withdrawal, $0, at: time) }
                        ?? Funding.planRefresh(of: withdrawal, at: time)
                )
            case PayeeBody.kind:
                let payee = try Payee(record)
                self = .payee(
                    observation.map { Funding.next(payee, $0, at: time) }
                        ?? Funding.planRefresh(of: payee, at: time)
                )
            default: throw LedgerError.corrupt("a record of another kind")
            }
        } catch {
            throw Refusal(.unreadable)
        }
    }

    var postings: [Posting] {
        switch self {
        case .deposit(let decision): decision.postings
        case .withdrawal(let decision): decision.postings
        case .payee(let decision): decision.postings
        }
    }

    var call: Call? {
        switch self {
        case .deposit(let decision): decision.call
        case .withdrawal(let decision): decision.call
        case .payee(let decision): decision.call
        }
    }

    /// Returns the idempotency key that a record uses now; `nil` if it has none.
    static func key(of record: Record) -> String? {
        switch record.kind {
        case DepositBody.kind: (try? Deposit(record))?.key
        case WithdrawalBody.kind: (try? Withdrawal(record))?.key
        case PayeeBody.kind: (try? Payee(record))?.key
        default: nil
        }
    }

    /// The provider's ids of the record's objects.
    var objects: [String] {
        let ids: [String?] =
            switch self {
            case .deposit(let decision):
                [decision.subject.body.intent, decision.subject.body.checkout]
            case .withdrawal(let decision):
                [decision.subject.body.transfer, decision.subject.body.payout]
            case .payee(let decision): [decision.subject.body.account]
            }
        return ids.compactMap { $0 }
    }
}

/// Applies the result of a call to the provider to the record that the call was about.
package struct Observe: LedgerCommand {
    package static let name = "observe"

    package let record: RecordID
    package let observation: Observation
    /// The key of the call, if the result is valid only for calls with this key.
    private let key: String?
    /// The account that was read, if the call read one.
    private let account: String?

    /// - Parameter call: The call that returned the observation; `nil` if there was none.
    package init(_ record: RecordID, _ observation: Observation, of call: Call? = nil) {
        self.record = record
        self.observation = observation
        account = if case .readAccount(let account) = call { account } else { nil }
        switch observation {
        case .refused, .absent: key = call?.key
        case .deposit, .payee, .transfer, .payout, .unknown: key = nil
        }
    }

    package func touch(_ footprint: inout Footprint, knowing rows: Snapshot?) {
        footprint.records.insert(record)
        guard let rows else { return footprint.needsAnotherRound = true }
        if let record = rows.records[record] { footprint.cover(observation, of: record) }
    }

    /// - Returns: The next call to make, if there is one.
    package func decide(on books: inout Books, at time: Timestamp) throws(Refusal) -> Call? {
        guard let stored = books.rows.records[record] else { throw Refusal(.unknownRecord) }
        // Another server was faster and has changed the record.
        if let key, key != AnyFundingDecision.key(of: stored) { return nil }
        if let account, try books.payee(of: stored.owner)?.body.account != account { return nil }
        return try books.apply(observation, to: stored, at: time)
    }
}

/// Decides which call a record needs now, and schedules a refresh in case that call's result is
/// never reported.
package struct Wake: LedgerCommand {
    package static let name = "wake"

    package let record: RecordID

    package init(_ record: RecordID) {
        self.record = record
    }

    package func touch(_ footprint: inout Footprint, knowing rows: Snapshot?) {
        footprint.records.insert(record)
    }

    package func decide(on books: inout Books, at time: Timestamp) throws(Refusal) -> Call? {
        guard let stored = books.rows.records[record] else { throw Refusal(.unknownRecord) }
        let step = try AnyFundingDecision(stored, nil, at: time)
        switch step {
        case .deposit(let decision): try books.put(decision, at: time)
        case .withdrawal(let decision): try books.put(decision, at: time)
        case .payee(let decision): try books.put(decision, at: time)
        }
        return step.call
    }
}

extension Footprint {
    /// Adds the rows that an observation may change.
    mutating func cover(_ observation: Observation, of record: Record) {
        // The time of the decision is not known yet. The only effect of a later time is that a time
        // limit has passed: both cases are covered.
        for time in [record.createdAt, record.createdAt.advanced(by: .seconds(1 << 32))] {
            guard let step = try? AnyFundingDecision(record, observation, at: time) else {
                continue
            }
            names.formUnion(step.objects.map(Posting.name(ofObject:)))
            names.formUnion(step.postings.map { Posting.name(ofFact: $0.fact) })
            for posting in step.postings { owners.formUnion(posting.owners) }
        }
    }
}

extension Books {
    /// Applies an observation to a record.
    ///
    /// - Returns: The next call to make, if there is one.
    mutating func apply(
        _ observation: Observation,
        to stored: Record,
        at time: Timestamp
    ) throws(Refusal) -> Call? {
        let record = stored.id
        var step = try AnyFundingDecision(stored, observation, at: time)
        if step.objects.contains(where: { !isFree(Posting.name(ofObject: $0), for: record) }) {
            // Another record has this object: a person must examine it.
            let refusal = ProviderRefusal(
                .keyReused,
                code: "object_of_another",
                message: "The provider's object belongs to another record."
            )
            step = try AnyFundingDecision(stored, .refused(refusal), at: time)
        }
        switch step {
        case .deposit(let decision): try put(withoutForeignFacts(decision), at: time)
        case .withdrawal(let decision): try put(withoutForeignFacts(decision), at: time)
        case .payee(let decision): try put(decision, at: time)
        }
        for object in step.objects {
            _ = claim(Posting.name(ofObject: object), for: record.rawValue, until: nil, at: time)
        }
        return step.call
    }

    fileprivate func isFree(_ name: String, for record: RecordID) -> Bool {
        rows.names[name].map { $0.target == record.rawValue } ?? true
    }

    /// Removes the facts that another record has booked: each fact is booked only once.
    fileprivate func withoutForeignFacts<Body: FundingBody>(_ decision: FundingDecision<Body>)
        -> FundingDecision<Body>
    {
        var possible = decision
        possible.postings = decision.postings.filter {
            isFree(Posting.name(ofFact: $0.fact), for: decision.subject.id)
        }
        for posting in decision.postings where !possible.postings.contains(posting) {
            possible.subject.body.booked[posting.fact] = nil
        }
        return possible
    }
}
