package import GotchuCore
package import Ledger

/// Takes up a paid deposit that the books have lost, or know without its payment. It is made and
/// credited at once: for a record without a payment another would be ordered.
package struct AdoptDeposit: LedgerCommand {
    package static let name = "adopt-deposit"

    package let record: RecordID
    package let user: UserID
    package let amount: Money
    package let isLive: Bool
    package let payment: SeenDeposit

    package init(
        _ record: RecordID,
        user: UserID,
        amount: Money,
        isLive: Bool,
        payment: SeenDeposit
    ) {
        self.record = record
        self.user = user
        self.amount = amount
        self.isLive = isLive
        self.payment = payment
    }

    private func made(at time: Timestamp) -> Record {
        Deposit(
            id: record,
            user: user,
            amount: amount,
            reference: nil,
            presentation: .clientSecret,
            isLive: isLive,
            at: time
        ).record
    }

    package func touch(_ footprint: inout Footprint, knowing rows: Snapshot?) {
        footprint.users.insert(user)
        footprint.records.insert(record)
        footprint.owners.insert(.user(user))
        guard let rows else { return footprint.asksAgain = true }
        footprint.cover(
            .deposit(payment),
            of: rows.records[record] ?? made(at: Timestamp(milliseconds: 0))
        )
    }

    package func decide(on books: inout Books, at time: Timestamp) throws(Refusal) -> Deposit {
        guard books.rows.knows(user) else { throw Refusal(.unknownUser) }
        _ = try books.wallet(of: user, in: amount.currency)
        let record = books.rows.records[record] ?? made(at: time)
        _ = try books.apply(.deposit(payment), to: record, at: time)
        return try books.subject(self.record)
    }
}

/// Takes up a withdrawal that the books have lost, and of which the provider has the transfer. One
/// that they know, but not as transferred, is looked at.
package struct AdoptWithdrawal: LedgerCommand {
    package static let name = "adopt-withdrawal"

    package let record: RecordID
    package let user: UserID
    package let amount: Money
    /// `acct_…`, to which it was transferred.
    package let account: String
    /// The time of its transfer: the payout is no older.
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

    /// - Returns: False if the books know as much as the provider.
    package func decide(on books: inout Books, at time: Timestamp) throws(Refusal) -> Bool {
        guard books.rows.records[record] == nil else { return try ring(&books, at: time) }
        guard books.rows.knows(user) else { throw Refusal(.unknownUser) }
        let balance = try books.wallet(of: user, in: amount.currency).balance
        guard amount.minorUnits <= balance else {
            throw Refusal(
                .insufficientBalance,
                required: amount.minorUnits,
                available: balance
            )
        }
        var next = Next(
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
        next.begin(at: time)
        next.subject.lookAt = time
        next.subject.body.isCalled = true
        // Its payout is there already, or may be.
        next.subject.body.tries.doubt()
        try books.put(next, at: time)
        return true
    }

    private func ring(_ books: inout Books, at time: Timestamp) throws(Refusal) -> Bool {
        var known: Withdrawal = try books.subject(record)
        guard known.body.transfer == nil, [.pending, .failed, .cancelled].contains(known.state)
        else { return false }
        known.lookAt = time
        try books.put(Next(known), at: time)
        return true
    }
}
