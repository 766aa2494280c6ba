import GotchuCore
import Ledger

/// A few accounts for tests of posting.
enum Post {
    static let record = RecordID(trusted: "record-1")
    static let pot = Account.Key(.pot(record), .usd)

    static func user(_ number: Int) -> Account.Key {
        Account.Key(.user(UserID(trusted: "user-\(number)")), .usd)
    }

    /// Creates accounts of users with these balances, and a pot if its balance is given.
    static func books(_ balances: [Int64], pot: Int64? = nil) -> Books {
        var rows = Snapshot()
        let start = Timestamp(milliseconds: 0)
        for (number, balance) in balances.enumerated() {
            rows.accounts[user(number)] = Account(user(number), balance: balance, changedAt: start)
        }
        if let pot {
            rows.accounts[Self.pot] = Account(
                Self.pot,
                balance: pot,
                entryCount: 1,
                changedAt: start
            )
        }
        return Books(rows)
    }

    /// Makes an invalid posting, among three users with ten cents each.
    static func misuse(
        _ kind: TransferKind,
        _ lines: [(account: Account.Key, amount: Int64)],
        step: String
    ) throws {
        var books = books([10, 10, 10])
        try books.post(kind, lines, record: record, step: step, at: Timestamp(milliseconds: 0))
    }
}

extension Books {
    /// Moves money between two accounts, with the next step of the kind.
    @discardableResult
    mutating func move(
        _ amount: Int64,
        _ kind: TransferKind = .swap,
        from source: Account.Key,
        to destination: Account.Key,
        at time: Timestamp = Timestamp(milliseconds: 1_000)
    ) throws(Refusal) -> Transfer {
        let step: String
        switch kind.steps {
        case .once(let name): step = name
        case .numbered(let name):
            step = "\(name)/\(effects.transfers.count { $0.kind == kind.name } + 1)"
        case .facts, .any:
            step = "fact/\(effects.transfers.count + 1)"
        }
        return try post(
            kind,
            [(source, -amount), (destination, amount)],
            record: Post.record,
            step: step,
            at: time
        )
    }
}

extension TransferKind {
    static let wager = test("WAGER", from: [.user], to: [.pot], .numbered("stake"))
    static let payoff = test("PAYOFF", from: [.pot], to: [.user], .once("release"), .receiver)
    /// A kind of transfer by which nobody earns.
    static let swap = test("SWAP", from: [.user], to: [.user], .once("swap"))
    /// A kind of transfer that increases the receiver's earnings, like a payment.
    static let tribute = test("TRIBUTE", from: [.user], to: [.user], .once("tribute"), .receiver)
    /// A kind of transfer that decreases the sender's earnings, like a refund.
    static let rebate = test("REBATE", from: [.user], to: [.user], .numbered("rebate"), .sender)

    /// A kind of transfer that books facts about a user's debt and the house's take.
    static let fact = test(
        "FACT",
        from: [.user, .house(.stripeBalance), .houseOf(.owed), .houseOf(.take)],
        to: [.user, .house(.stripeBalance), .houseOf(.owed), .houseOf(.take)],
        .any(of: [.facts, .numbered("settled")])
    )

    private static func test(
        _ name: String,
        from: Set<Party>,
        to: Set<Party>,
        _ steps: Steps,
        _ earner: Earner = .nobody
    ) -> TransferKind {
        TransferKind(
            name,
            from: from,
            to: to,
            steps: steps,
            debitName: name,
            creditName: name,
            earner: earner,
            isAnswered: false
        )
    }
}
