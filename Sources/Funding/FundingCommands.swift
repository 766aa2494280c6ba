package import GotchuCore
package import Ledger

/// The limits of deposits, for one user.
package struct DepositLimits: Equatable, Sendable {
    /// The most deposits that may be open at once.
    package static let open = 5
    /// The most deposits that may be created within an hour.
    package static let hourly = 10
    /// The number of newest deposits that are read. They include all that count for the limits.
    package static let read = 50

    /// The largest deposit in minor units, unless the user has a limit of their own.
    package let defaultDepositMaximum: Int64
    /// The largest balance in minor units to which a new deposit may lead, unless the user has a
    /// limit of their own.
    package let defaultBalanceMaximum: Int64
    /// The number of deposits that the user has created within an hour.
    package let recent: Int
    /// The number of deposits that are still refreshed but not open: paid ones with an unknown fee,
    /// and held ones.
    package let settled: Int

    package init(
        defaultDepositMaximum: Int64,
        defaultBalanceMaximum: Int64,
        recent: Int,
        settled: Int
    ) {
        self.defaultDepositMaximum = defaultDepositMaximum
        self.defaultBalanceMaximum = defaultBalanceMaximum
        self.recent = recent
        self.settled = settled
    }

    /// Checks that a deposit is within the user's limits.
    ///
    /// - Parameter open: The number of deposits that are refreshed.
    fileprivate func check(
        _ amount: Money,
        _ account: Account,
        open: Int,
        _ terms: User.Terms
    ) throws(Refusal) {
        let most = terms.depositMaximum ?? defaultDepositMaximum
        guard amount.minorUnits <= most else {
            throw Refusal(.depositTooLarge, required: amount.minorUnits, available: most)
        }
        let room = (terms.balanceMaximum ?? defaultBalanceMaximum) - account.balance
        guard amount.minorUnits <= room else {
            throw Refusal(.walletFull, required: amount.minorUnits, available: max(0, room))
        }
        guard open - settled < Self.open else { throw Refusal(.tooManyOpenDeposits) }
        guard recent < Self.hourly else { throw Refusal(.tooManyDeposits) }
    }
}

/// The external source and destination of money.
package enum FundingSource: Equatable, Sendable {
    /// The provider, with test money or real money.
    case provider(isLive: Bool)
    /// The mint of a development server, which completes everything at once.
    case mint
}

/// Opens a deposit. A development server's mint pays it at once.
package struct OpenDeposit: RecordCommand {
    package static let name = "open-deposit"

    package let user: UserID
    package let amount: Money
    package let reference: String?
    package let presentation: Presentation
    package let source: FundingSource
    package let limits: DepositLimits
    package let record: RecordID

    package init(
        user: UserID,
        amount: Money,
        reference: String?,
        presentation: Presentation,
        source: FundingSource,
        limits: DepositLimits,
        id: RecordID = .make()
    ) {
        self.user = user
        self.amount = amount
        self.reference = reference
        self.presentation = presentation
        self.source = source
        self.limits = limits
        record = id
    }

    private var group: RecordGroup { RecordGroup(owner: user, kind: DepositBody.kind) }

    package func touch(_ footprint: inout Footprint, knowing rows: Snapshot?) {
        footprint.users.insert(user)
        footprint.owners.insert(.user(user))
        footprint.dueGroups.insert(group)
        guard source == .mint else { return }
        footprint.owners.formUnion([.house(.developmentMint), .houseOf(.owed, user)])
        footprint.names.insert(Posting.name(ofFact: fact))
    }

    /// The key of the only fact of a deposit paid by the mint.
    private var fact: String { "dev_\(record)" }

    package func decide(on books: inout Books, at time: Timestamp) throws(Refusal) -> RecordID {
        guard let known = books.rows.users[user] else { throw Refusal(.unknownUser) }
        let account = try books.wallet(of: user, in: amount.currency)
        let open = books.rows.dueCounts[group, default: 0]
        try limits.check(amount, account, open: open, known.terms)
        let isLive = source == .provider(isLive: true)
        var decision = FundingDecision(
            Deposit(
                id: record,
                user: user,
                amount: amount,
                reference: reference,
                presentation: presentation,
                isLive: isLive,
                at: time
            )
        )
        if source == .mint { decision.mint(fact, at: time) }
        try books.put(decision, at: time)
        return record
    }
}

/// Debits a payee's wallet, to pay the money to their bank.
package struct RequestWithdrawal: RecordCommand {
    package static let name = "request-withdrawal"

    package let user: UserID
    package let amount: Money
    package let bankAccount: String?
    package let source: FundingSource
    /// The credits that are too recent to be withdrawn.
    package let hold: WithdrawalHold
    /// A Boolean that is true if the operator must release the withdrawals of a new payee.
    package let needsRelease: Bool
    package let record: RecordID

    package init(
        user: UserID,
        amount: Money,
        bankAccount: String?,
        source: FundingSource,
        hold: WithdrawalHold,
        needsRelease: Bool,
        id: RecordID = .make()
    ) {
        self.user = user
        self.amount = amount
        self.bankAccount = bankAccount
        self.source = source
        self.hold = hold
        self.needsRelease = needsRelease
        record = id
    }

    package var spender: UserID? { user }

    package func touch(_ footprint: inout Footprint, knowing rows: Snapshot?) {
        footprint.records.insert(Payee.id(of: user))
        if let rows {
            if let other = rows.records[Payee.id(of: user)].flatMap({ try? Payee($0) })?.body
                .payeeOf
            {
                footprint.records.insert(Payee.id(of: other))
            }
        } else {
            footprint.needsAnotherRound = true
        }
        footprint.dueGroups.insert(group)
        let destination: HouseAccount = source == .mint ? .developmentMint : .withdrawals
        footprint.owners.formUnion([.user(user), .houseOf(.owed, user), .house(destination)])
        footprint.names.insert(Posting.name(ofFact: fact))
    }

    private var fact: String { WithdrawalBody.taken(record) }
    private var group: RecordGroup { RecordGroup(owner: user, kind: WithdrawalBody.kind) }

    package func decide(on books: inout Books, at time: Timestamp) throws(Refusal) -> RecordID {
        guard books.rows.knows(user) else { throw Refusal(.unknownUser) }
        let account = try books.wallet(of: user, in: amount.currency)
        let payee = try books.payee(of: user)
        // The payee whose account receives the money: `payeeOf` may name another user.
        let paid =
            try payee?.body.payeeOf.map { other throws(Refusal) in
                try books.payee(of: other)
            } ?? payee
        try check(paid, account, books)
        guard books.rows.dueCounts[group, default: 0] < WithdrawalBody.limit else {
            throw Refusal(.tooManyWithdrawals)
        }
        guard source == .mint || paid?.body.account != nil else {
            throw Refusal(.payeeNotOnboarded)
        }
        let available = max(0, account.balance - hold.heldAmount)
        guard amount.minorUnits <= available else {
            throw Refusal(
                amount.minorUnits <= account.balance ? .heldBalance : .insufficientBalance,
                required: amount.minorUnits,
                available: available
            )
        }
        var decision = FundingDecision(
            Withdrawal(
                id: record,
                user: user,
                amount: amount,
                account: source == .mint ? nil : paid?.body.account,
                bankAccount: bankAccount,
                needsRelease: needsRelease && source != .mint && payee?.body.isReleased != true,
                at: time
            )
        )
        decision.begin(at: time)
        try books.put(decision, at: time)
        return record
    }

    private func check(
        _ payee: Payee?,
        _ account: Account,
        _ books: Books
    ) throws(Refusal) {
        if source != .mint {
            guard payee?.state == .active else { throw Refusal(.payeeNotOnboarded) }
        }
        guard books.debt(of: user, in: amount.currency) == 0 else { throw Refusal(.walletOwes) }
        guard account.entryCount == hold.entryCount else { throw Refusal(.accountChanged) }
    }
}

/// The credits of an account that are too recent to be withdrawn, as of one of its entries.
package struct WithdrawalHold: Equatable, Sendable {
    /// The number of the account's newest entry when the credits were summed.
    package let entryCount: Int64
    /// The sum of the credits in minor units.
    package let heldAmount: Int64

    package init(entryCount: Int64, heldAmount: Int64) {
        self.entryCount = entryCount
        self.heldAmount = heldAmount
    }
}

/// Requests the cancellation of a deposit. The provider decides whether it is in time.
package struct CancelDeposit: LedgerCommand {
    package static let name = "cancel-deposit"

    package let deposit: RecordID
    package let user: UserID

    package init(_ deposit: RecordID, user: UserID) {
        self.deposit = deposit
        self.user = user
    }

    package func touch(_ footprint: inout Footprint, knowing rows: Snapshot?) {
        footprint.records.insert(deposit)
    }

    package func decide(on books: inout Books, at time: Timestamp) throws(Refusal) -> Deposit {
        var deposit: Deposit = try books.subject(deposit, of: user)
        switch deposit.state {
        case .canceled: return deposit
        case .succeeded, .failed, .held, .processing: throw Refusal(.intentSettled)
        case .created, .requiresPaymentMethod, .requiresConfirmation, .requiresAction: break
        }
        guard !deposit.body.isCancellationRequested else { return deposit }
        deposit.body.isCancellationRequested = true
        deposit.refreshAt = time.advanced(by: Pace.handover)
        return try books.put(FundingDecision(deposit), at: time)
    }
}

/// Cancels a withdrawal that the provider does not know yet.
package struct CancelWithdrawal: LedgerCommand {
    package static let name = "cancel-withdrawal"

    package let withdrawal: RecordID
    package let user: UserID

    package init(_ withdrawal: RecordID, user: UserID) {
        self.withdrawal = withdrawal
        self.user = user
    }

    package func touch(_ footprint: inout Footprint, knowing rows: Snapshot?) {
        footprint.records.insert(withdrawal)
        footprint.owners.formUnion([.user(user), .house(.withdrawals)])
        footprint.names.insert(Posting.name(ofFact: WithdrawalBody.returned(withdrawal)))
    }

    package func decide(on books: inout Books, at time: Timestamp) throws(Refusal) -> Withdrawal {
        let withdrawal: Withdrawal = try books.subject(withdrawal, of: user)
        guard withdrawal.state != .cancelled else { return withdrawal }
        var decision = FundingDecision(withdrawal)
        guard decision.cancel(at: time) else { throw Refusal(.withdrawalTooLate) }
        return try books.put(decision, at: time)
    }
}

/// Creates the record of a payee. The worker then opens the account at the provider. An existing
/// payee that is not active is refreshed.
package struct PutPayee: LedgerCommand {
    package static let name = "put-payee"

    package let user: UserID

    package init(_ user: UserID) {
        self.user = user
    }

    package func touch(_ footprint: inout Footprint, knowing rows: Snapshot?) {
        footprint.users.insert(user)
        footprint.records.insert(Payee.id(of: user))
    }

    package func decide(on books: inout Books, at time: Timestamp) throws(Refusal) -> Payee {
        guard books.rows.knows(user) else { throw Refusal(.unknownUser) }
        var payee = try books.payee(of: user) ?? Payee(user, at: time)
        if payee.refreshAt == nil, payee.state != .active {
            payee.refreshAt = time.advanced(by: Pace.handover)
            payee.body.refreshCount = 0
        }
        return try books.put(FundingDecision(payee), at: time)
    }
}

extension Books {
    func payee(of user: UserID) throws(Refusal) -> Payee? {
        guard let record = rows.records[Payee.id(of: user)] else { return nil }
        return try readable(record)
    }

    /// Returns a record of this kind, which must belong to `user` if one is given.
    ///
    /// - Throws: `unknownRecord`, also for another user's record, and `unreadable`.
    func subject<Body: FundingBody>(
        _ id: RecordID,
        of user: UserID? = nil
    ) throws(Refusal) -> FundingRecord<Body> {
        guard let record = rows.records[id], record.kind == Body.kind,
            user.map({ $0 == record.owner }) ?? true
        else { throw Refusal(.unknownRecord) }
        return try readable(record)
    }

    func readable<Body: FundingBody>(_ record: Record) throws(Refusal) -> FundingRecord<Body> {
        do { return try FundingRecord(record) } catch { throw Refusal(.unreadable) }
    }

    /// Returns what a user owes, in minor units.
    ///
    /// - Precondition: The account was loaded.
    func debt(of user: UserID, in currency: Currency) -> Int64 {
        -(rows.accounts[Account.Key(.houseOf(.owed, user), currency)]?.balance ?? 0)
    }

    /// Returns a user's account in the currency of a deposit or a withdrawal.
    func wallet(of user: UserID, in currency: Currency) throws(Refusal) -> Account {
        guard let account = rows.accounts[Account.Key(.user(user), currency)] else {
            throw Refusal(.noWalletInCurrency)
        }
        return account
    }

    /// Writes the decision about an observation: the record, if it has changed, and its facts.
    @discardableResult
    mutating func put<Body: FundingBody>(
        _ decision: FundingDecision<Body>,
        at time: Timestamp
    ) throws(Refusal) -> FundingRecord<Body> {
        var subject = decision.subject
        // Booking comes first because it may be refused: a refused command must not change
        // anything.
        try book(decision.postings, of: subject.id, in: subject.amount.currency, at: time)
        let stored = rows.records[subject.id]
        guard subject.record != stored else { return subject }
        if stored != nil { subject.version += 1 }
        let record = subject.record
        let event = decision.event.map { Event(kind: $0.rawValue, record: record, at: time) }
        put(record, event: event)
        return subject
    }
}
