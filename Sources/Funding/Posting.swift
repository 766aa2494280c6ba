internal import GotchuCore
internal import Ledger

/// A fact at the provider, as it is booked. Its key is the step of its transfer. The key with a
/// prefix is a unique name: each fact is booked only once.
package struct Posting: Equatable, Sendable {
    enum Lines: Equatable, Sendable {
        /// Money at the provider is credited to a user; then the user's debt is settled.
        case credit(UserID)
        /// A user's money goes back to the provider; the missing part becomes a debt.
        case debit(UserID)
        /// Money moves from one account to another; a negative amount moves the other way.
        case move(from: Account.Owner, to: Account.Owner)
    }

    let kind: TransferKind
    let fact: String
    /// In minor units.
    let amount: Int64
    let lines: Lines

    init(_ kind: TransferKind, _ fact: String, _ amount: Int64, _ lines: Lines) {
        self.kind = kind
        self.fact = fact
        self.amount = amount
        self.lines = lines
    }

    /// Returns the unique name that prevents a fact from being booked twice.
    static func name(ofFact fact: String) -> String { "fact:\(fact)" }

    /// Returns the unique name of an object of the provider.
    package static func name(ofObject id: String) -> String { "stripe:\(id)" }

    /// The owners of all accounts that it may change.
    var owners: Set<Account.Owner> {
        switch lines {
        case .credit(let user), .debit(let user):
            [.user(user), .houseOf(.owed, user), .house(.stripeBalance)]
        case .move(let source, let destination): [source, destination]
        }
    }
}

extension Books {
    /// Books the facts that have not been booked yet.
    ///
    /// - Precondition: The names of the facts, and the accounts, were loaded.
    mutating func book(
        _ postings: [Posting],
        of record: RecordID,
        in currency: Currency,
        at time: Timestamp
    ) throws(Refusal) {
        for posting in postings
        where claim(Posting.name(ofFact: posting.fact), for: record.rawValue, until: nil, at: time)
        {
            try book(posting, of: record, in: currency, at: time)
        }
    }

    private mutating func book(
        _ posting: Posting,
        of record: RecordID,
        in currency: Currency,
        at time: Timestamp
    ) throws(Refusal) {
        let amount = posting.amount
        switch posting.lines {
        case .move(let source, let destination):
            try move(
                posting.kind,
                [(source, -amount), (destination, amount)],
                record,
                posting.fact
            )
        case .debit(let user):
            let paid = min(amount, balance(of: .user(user), in: currency))
            try move(
                posting.kind,
                [
                    (.user(user), -paid), (.houseOf(.owed, user), paid - amount),
                    (.house(.stripeBalance), amount),
                ],
                record,
                posting.fact
            )
        case .credit(let user):
            try move(
                posting.kind,
                [(.house(.stripeBalance), -amount), (.user(user), amount)],
                record,
                posting.fact
            )
            let owed = -balance(of: .houseOf(.owed, user), in: currency)
            let settled = min(amount, owed)
            try move(
                .debtSettled,
                [(.user(user), -settled), (.houseOf(.owed, user), settled)],
                record,
                "\(posting.fact)/owed"
            )
        }

        func move(
            _ kind: TransferKind,
            _ lines: [(owner: Account.Owner, amount: Int64)],
            _ record: RecordID,
            _ step: String
        ) throws(Refusal) {
            let lines = lines.filter { $0.amount != 0 }
            guard !lines.isEmpty else { return }
            try post(
                kind,
                lines.map { (Account.Key($0.owner, currency), $0.amount) },
                record: record,
                step: step,
                at: time
            )
        }
    }

    private func balance(of owner: Account.Owner, in currency: Currency) -> Int64 {
        rows.accounts[Account.Key(owner, currency)]?.balance ?? 0
    }
}
