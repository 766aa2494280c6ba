package import GotchuCore
package import Ledger

/// Restores a paid deposit that the ledger has lost, or whose payment it has lost. Creates and
/// credits the deposit in one command: a deposit stored without its payment would cause a second
/// payment to be ordered from the provider.
package struct AdoptDeposit: LedgerCommand {
    package static let name = "adopt-deposit"

    package let record: RecordID
    package let user: UserID
    /// The user who ordered it, if the ledger has lost that user, and the operator named another.
    package let orderedBy: UserID?
    package let amount: Money
    package let isLive: Bool
    package let payment: SeenDeposit

    package init(
        _ record: RecordID,
        user: UserID,
        orderedBy: UserID? = nil,
        amount: Money,
        isLive: Bool,
        payment: SeenDeposit
    ) {
        self.record = record
        self.user = user
        self.orderedBy = orderedBy
        self.amount = amount
        self.isLive = isLive
        self.payment = payment
    }

    private func newRecord(at time: Timestamp) -> Record {
        var deposit = Deposit(
            id: record,
            user: user,
            amount: amount,
            reference: nil,
            presentation: .clientSecret,
            isLive: isLive,
            at: time
        )
        deposit.body.orderedBy = orderedBy
        return deposit.record
    }

    package func touch(_ footprint: inout Footprint, knowing rows: Snapshot?) {
        footprint.users.insert(user)
        footprint.records.insert(record)
        footprint.owners.insert(.user(user))
        guard let rows else { return footprint.needsAnotherRound = true }
        footprint.cover(
            .deposit(payment),
            of: rows.records[record] ?? newRecord(at: Timestamp(milliseconds: 0))
        )
    }

    package func decide(on books: inout Books, at time: Timestamp) throws(Refusal) -> Deposit {
        guard books.rows.knows(user) else { throw Refusal(.unknownUser) }
        _ = try books.wallet(of: user, in: amount.currency)
        let record = books.rows.records[record] ?? newRecord(at: time)
        _ = try books.apply(.deposit(payment), to: record, at: time)
        return try books.subject(self.record)
    }
}

/// Restores a withdrawal that the ledger has lost, if the provider has its transfer. If the ledger
/// has lost only the transfer, the withdrawal is refreshed instead.
package struct AdoptWithdrawal: LedgerCommand {
    package static let name = "adopt-withdrawal"

    package let record: RecordID
    package let user: UserID
    package let amount: Money
    /// The account to which it was transferred: `acct_…`.
    package let account: String
    /// The time of its transfer; its payout is not older.
    package let sentAt: Timestamp

    package init(
        _ record: RecordID,
        user: UserID,
        amount: Money,
        account: String,
        sentAt: Timestamp
    ) {
        self.record = record
        self.user = user
        self.amount = amount
        self.account = account
        self.sentAt = sentAt
    }

    package func touch(_ footprint: inout Footprint, knowing rows: Snapshot?) {
        footprint.records.insert(record)
        footprint.owners.formUnion([.user(user), .house(.withdrawals)])
        footprint.names.insert(Posting.name(ofFact: WithdrawalBody.taken(record)))
    }

    /// - Returns: False if the ledger is up to date already.
    package func decide(on books: inout Books, at time: Timestamp) throws(Refusal) -> Bool {
        guard books.rows.records[record] == nil else {
            return try scheduleRecordRefresh(in: &books, at: time)
        }
        guard books.rows.knows(user) else { throw Refusal(.unknownUser) }
        let balance = try books.wallet(of: user, in: amount.currency).balance
        guard amount.minorUnits <= balance else {
            throw Refusal(
                .insufficientBalance,
                required: amount.minorUnits,
                available: balance
            )
        }
        var decision = FundingDecision(
            Withdrawal(
                id: record,
                user: user,
                amount: amount,
                account: account,
                bankAccount: nil,
                needsRelease: false,
                at: min(sentAt, time)
            )
        )
        decision.begin(at: time)
        decision.subject.refreshAt = time
        decision.subject.body.isCalled = true
        // Its payout may exist already.
        decision.subject.body.attempts.requireSearch()
        try books.put(decision, at: time)
        return true
    }

    private func scheduleRecordRefresh(
        in books: inout Books,
        at time: Timestamp
    ) throws(Refusal) -> Bool {
        var known: Withdrawal = try books.subject(record)
        guard known.body.transfer == nil, [.pending, .failed, .cancelled].contains(known.state)
        else { return false }
        known.refreshAt = time
        try books.put(FundingDecision(known), at: time)
        return true
    }
}
