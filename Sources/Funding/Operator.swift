package import GotchuCore
package import Ledger

/// Books the amount that was received for a held deposit, instead of the ordered amount.
package struct AcceptDeposit: LedgerCommand {
    package static let name = "accept-deposit"

    package let deposit: RecordID

    package init(_ deposit: RecordID) {
        self.deposit = deposit
    }

    package func touch(_ footprint: inout Footprint, knowing rows: Snapshot?) {
        footprint.records.insert(deposit)
    }

    package func decide(on books: inout Books, at time: Timestamp) throws(Refusal) -> Deposit {
        var deposit: Deposit = try books.subject(deposit)
        guard deposit.state == .held, deposit.body.received != nil else {
            throw Refusal(.intentSettled)
        }
        // The next refresh books the amount, if it is still the accepted one.
        deposit.body.isAccepted = true
        deposit.refreshAt = time
        return try books.put(FundingDecision(deposit), at: time)
    }
}

/// Cancels a held deposit for which no amount was received that could be booked.
package struct CancelHeldDeposit: LedgerCommand {
    package static let name = "drop-deposit"

    package let deposit: RecordID
    /// A Boolean that is true if the operator says that the received money was refunded.
    package let isRefunded: Bool

    package init(_ deposit: RecordID, isRefunded: Bool = false) {
        self.deposit = deposit
        self.isRefunded = isRefunded
    }

    package func touch(_ footprint: inout Footprint, knowing rows: Snapshot?) {
        footprint.records.insert(deposit)
    }

    package func decide(on books: inout Books, at time: Timestamp) throws(Refusal) -> Deposit {
        var deposit: Deposit = try books.subject(deposit)
        guard deposit.state == .held, deposit.body.received == nil,
            isRefunded || deposit.body.unbookable == nil
        else { throw Refusal(.intentSettled) }
        deposit.state = .canceled
        deposit.refreshAt = nil
        return try books.put(FundingDecision(deposit), at: time)
    }
}

/// Applies the operator's decision on a withdrawal. A held one is paid out again, or its money is
/// returned to the wallet. A pending one is stopped.
package struct ResumeWithdrawal: LedgerCommand {
    package static let name = "resume-withdrawal"

    package let withdrawal: RecordID
    package let isReturned: Bool

    package init(_ withdrawal: RecordID, isReturned: Bool) {
        self.withdrawal = withdrawal
        self.isReturned = isReturned
    }

    package func touch(_ footprint: inout Footprint, knowing rows: Snapshot?) {
        footprint.records.insert(withdrawal)
        guard isReturned else { return }
        footprint.names.insert(Posting.name(ofFact: WithdrawalBody.returned(withdrawal)))
        guard let owner = rows?.records[withdrawal]?.owner else {
            return footprint.needsAnotherRound = rows == nil
        }
        footprint.owners.formUnion([.user(owner), .house(.withdrawals)])
    }

    package func decide(on books: inout Books, at time: Timestamp) throws(Refusal) -> Withdrawal {
        var decision = FundingDecision<WithdrawalBody>(try books.subject(withdrawal))
        guard decision.decide(returning: isReturned, at: time) else {
            throw Refusal(.withdrawalTooLate)
        }
        return try books.put(decision, at: time)
    }
}

/// Links a payee: the user's withdrawals are paid to another user's connected account from now on,
/// or to their own again.
package struct LinkPayee: LedgerCommand {
    package static let name = "link-payee"

    package let user: UserID
    /// The user who has the account; `user` for their own.
    package let other: UserID

    package init(_ user: UserID, to other: UserID) {
        self.user = user
        self.other = other
    }

    package func touch(_ footprint: inout Footprint, knowing rows: Snapshot?) {
        footprint.users.insert(user)
        footprint.records.formUnion([Payee.id(of: user), Payee.id(of: other)])
    }

    /// - Throws: `unknownUser`; `payeeNotOnboarded` if the other user has no account of their own.
    package func decide(on books: inout Books, at time: Timestamp) throws(Refusal) -> Payee {
        guard books.rows.knows(user) else { throw Refusal(.unknownUser) }
        let known = try books.payee(of: user)
        var payee = known ?? Payee(user, at: time)
        if other == user {
            guard known != nil else { throw Refusal(.payeeNotOnboarded) }
            payee.body.payeeOf = nil
        } else {
            guard let target = try books.payee(of: other), target.body.account != nil,
                target.body.payeeOf == nil
            else { throw Refusal(.payeeNotOnboarded) }
            payee.body.payeeOf = other
            if payee.body.account == nil { payee.refreshAt = nil }
        }
        return try books.put(FundingDecision(payee), at: time)
    }
}

/// Removes a payee's restricted account. The payee's next request opens another one.
package struct RenewPayee: LedgerCommand {
    package static let name = "renew-payee"

    package let user: UserID

    package init(_ user: UserID) {
        self.user = user
    }

    package func touch(_ footprint: inout Footprint, knowing rows: Snapshot?) {
        footprint.records.insert(Payee.id(of: user))
    }

    /// - Returns: False if the payee has no restricted account.
    package func decide(on books: inout Books, at time: Timestamp) throws(Refusal) -> Bool {
        guard var payee = try books.payee(of: user) else { throw Refusal(.payeeNotOnboarded) }
        guard payee.state == .restricted else { return false }
        payee.renew(at: time)
        try books.put(FundingDecision(payee), at: time)
        return true
    }
}

/// Allows a new payee's withdrawals from now on.
package struct ReleasePayee: LedgerCommand {
    package static let name = "release-payee"

    package let user: UserID
    /// The payee's withdrawals that wait for the release.
    package let withdrawals: [RecordID]

    package init(_ user: UserID, withdrawals: [RecordID]) {
        self.user = user
        self.withdrawals = withdrawals
    }

    package func touch(_ footprint: inout Footprint, knowing rows: Snapshot?) {
        footprint.records.insert(Payee.id(of: user))
        footprint.records.formUnion(withdrawals)
        footprint.owners.insert(.houseOf(.owed, user))
    }

    /// - Throws: `walletOwes` while the user owes anything: the withdrawals that wait are the
    ///   operator's only security.
    package func decide(on books: inout Books, at time: Timestamp) throws(Refusal) -> Payee {
        guard var payee = try books.payee(of: user) else { throw Refusal(.payeeNotOnboarded) }
        guard books.debt(of: user, in: .usd) == 0 else { throw Refusal(.walletOwes) }
        var waiting: [FundingDecision<WithdrawalBody>] = []
        for id in withdrawals {
            var decision = FundingDecision<WithdrawalBody>(try books.subject(id, of: user))
            decision.release(at: time)
            waiting.append(decision)
        }
        for decision in waiting { try books.put(decision, at: time) }
        payee.body.isReleased = true
        return try books.put(FundingDecision(payee), at: time)
    }
}

/// Forgives a part of a user's debt.
package struct ForgiveDebt: LedgerCommand {
    package static let name = "forgive-debt"

    package let user: UserID
    package let amount: Money
    /// The debt on which the operator decided, in minor units. No open dispute is part of it: if
    /// that were won, the user would get the money twice.
    private let debt: Int64
    private let fact: String

    package init(_ user: UserID, _ amount: Money, of debt: Int64, id: RecordID = .make()) {
        self.user = user
        self.amount = amount
        self.debt = debt
        fact = "forgiven_\(id)"
    }

    package func touch(_ footprint: inout Footprint, knowing rows: Snapshot?) {
        footprint.records.insert(Provider.id)
        footprint.owners.formUnion([.houseOf(.owed, user), .house(.losses)])
        footprint.names.insert(Posting.name(ofFact: fact))
    }

    /// - Returns: The remaining debt, in minor units.
    /// - Throws: `accountChanged` if the user owes another amount, perhaps due to a new dispute.
    package func decide(on books: inout Books, at time: Timestamp) throws(Refusal) -> Int64 {
        guard books.debt(of: user, in: amount.currency) == debt else {
            throw Refusal(.accountChanged)
        }
        guard amount.minorUnits > 0, amount.minorUnits <= debt else {
            throw Refusal(.insufficientBalance, required: amount.minorUnits, available: debt)
        }
        var decision = FundingDecision<ProviderBody>(try books.subject(Provider.id))
        decision.book(
            Posting(
                .debtForgiven,
                fact,
                amount.minorUnits,
                .move(from: .house(.losses), to: .houseOf(.owed, user))
            )
        )
        try books.put(decision, at: time)
        return debt - amount.minorUnits
    }
}

/// Settles a user's debt from the wallet, as far as its balance allows.
package struct SettleDebt: LedgerCommand {
    package static let name = "settle-debt"

    package let user: UserID
    package let currency: Currency
    private let fact: String

    package init(_ user: UserID, in currency: Currency, id: RecordID = .make()) {
        self.user = user
        self.currency = currency
        fact = "settled_\(id)"
    }

    package func touch(_ footprint: inout Footprint, knowing rows: Snapshot?) {
        footprint.records.insert(Provider.id)
        footprint.owners.formUnion([.user(user), .houseOf(.owed, user)])
        footprint.names.insert(Posting.name(ofFact: fact))
    }

    /// - Returns: The remaining debt, in minor units.
    package func decide(on books: inout Books, at time: Timestamp) throws(Refusal) -> Int64 {
        let debt = books.debt(of: user, in: currency)
        let settled = min(debt, try books.wallet(of: user, in: currency).balance)
        guard settled > 0 else { return debt }
        var decision = FundingDecision<ProviderBody>(try books.subject(Provider.id))
        decision.book(
            Posting(
                .debtSettled,
                fact,
                settled,
                .move(from: .user(user), to: .houseOf(.owed, user))
            )
        )
        try books.put(decision, at: time)
        return debt - settled
    }
}

/// Changes a user's own terms.
package struct SetTerms: LedgerCommand {
    package static let name = "set-terms"

    package let user: UserID
    /// Changes the old terms into the new ones.
    package let change: @Sendable (inout User.Terms) -> Void

    package init(_ user: UserID, _ change: @escaping @Sendable (inout User.Terms) -> Void) {
        self.user = user
        self.change = change
    }

    package func touch(_ footprint: inout Footprint, knowing rows: Snapshot?) {
        footprint.users.insert(user)
    }

    package func decide(on books: inout Books, at time: Timestamp) throws(Refusal) -> User {
        guard let known = books.rows.users[user] else { throw Refusal(.unknownUser) }
        var terms = known.terms
        change(&terms)
        if terms != known.terms { books.set(terms, of: user) }
        return books.rows.users[user] ?? known
    }
}
