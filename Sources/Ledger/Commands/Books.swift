internal import FoundationEssentials
package import GotchuCore

/// A snapshot that a batch's commands read and change; it tracks the changed rows.
///
/// All changes go through these methods, which record every changed row.
package struct Books: Sendable {
    /// The largest number of entries of one transfer.
    static let entryLimit = 10_003

    package private(set) var rows: Snapshot
    private var changedNames: Set<String> = []
    /// The released names that this batch has not claimed.
    private var releasedNames: Set<String> = []
    private var changedUsers: Set<UserID> = []
    private var changedAccounts: Set<Account.Key> = []
    private var changedRecords: Set<RecordID> = []
    private var posted: Set<Transfer.Key> = []
    private var written = Effects()
    private var changeCount = 0
    /// The approximate size of the new rows so far, in bytes. Rows of money are not counted.
    private(set) var newBytes = 0
    /// The size of a row's keys, columns and index entries, in bytes.
    private static let rowBytes = 200

    package init(_ snapshot: Snapshot) {
        rows = snapshot
    }

    /// The rows to write. Changed rows are sorted by key, so that two writers of one database
    /// always lock them in the same order.
    package var effects: Effects {
        var effects = written
        effects.changedUsers = changedUsers.sorted { $0.rawValue < $1.rawValue }
            .compactMap { rows.users[$0] }
        effects.names = changedNames.sorted().compactMap { rows.names[$0] }
        effects.releasedNames = releasedNames.sorted().compactMap { rows.names[$0] }
        effects.records = changedRecords.compactMap { rows.records[$0] }
            .sorted { $0.id.rawValue < $1.id.rawValue }
        effects.accounts = changedAccounts.sorted().compactMap { rows.accounts[$0] }
        return effects
    }

    // MARK: Users, names, records

    /// Inserts a user, claims the unique name of their login, and adds an empty account.
    package mutating func insert(_ user: User, accountIn currency: Currency) {
        changeCount += 1
        rows.users[user.id] = user
        written.newUsers.append(user)
        put(Name(User.name(ofLogin: user.login), target: user.id.rawValue))
        put(Account(Account.Key(.user(user.id), currency), changedAt: user.createdAt))
    }

    /// Replaces a user's terms.
    ///
    /// - Precondition: The user was loaded.
    package mutating func set(_ terms: User.Terms, of id: UserID) {
        guard var user = rows.users[id] else { preconditionFailure("the user was loaded") }
        changeCount += 1
        user.terms = terms
        rows.users[id] = user
        changedUsers.insert(id)
    }

    /// Inserts a name.
    ///
    /// - Precondition: The snapshot has no such name, not even an expired one.
    package mutating func put(_ name: Name) {
        changeCount += 1
        newBytes += Self.rowBytes
        precondition(rows.names[name.text] == nil)
        changedNames.insert(name.text)
        rows.names[name.text] = name
    }

    /// Claims a name for a record or a user. The name must be free, expired or the target's own.
    ///
    /// - Parameter until: The time at which it expires; `nil` for never.
    /// - Returns: False, and changes nothing, if the name belongs to another target.
    /// - Precondition: The name is in the footprint.
    package mutating func claim(
        _ text: String,
        for target: String,
        until: Timestamp?,
        at time: Timestamp
    ) -> Bool {
        let name = Name(text, target: target, until: until)
        if let known = rows.names[text] {
            guard known.target == target || !known.isAlive(at: time) else { return false }
            guard known != name else { return true }
        }
        changeCount += 1
        if rows.names[text] == nil { newBytes += Self.rowBytes }
        releasedNames.remove(text)
        changedNames.insert(text)
        rows.names[text] = name
        return true
    }

    /// Makes a name expire at `time`, unless it expires earlier.
    ///
    /// - Parameter target: The id that it refers to; needed only for a name that was not loaded.
    package mutating func release(_ text: String, of target: String? = nil, at time: Timestamp) {
        guard let target = rows.names[text]?.target ?? target else {
            preconditionFailure("a name that is released is known")
        }
        guard rows.names[text]?.isAlive(at: time) ?? true else { return }
        changeCount += 1
        if !changedNames.contains(text) { releasedNames.insert(text) }
        rows.names[text] = Name(text, target: target, until: time)
    }

    /// Inserts a record as a child of another, whose row the command has locked.
    ///
    /// - Precondition: It is new, and no child of the parent has its number.
    package mutating func add(
        child record: Record,
        of parent: RecordID,
        number: Int64,
        event: Event? = nil
    ) {
        precondition(record.version == 1 && rows.records[record.id] == nil)
        put(record, event: event)
        adopt(record.id, by: parent, number: number)
    }

    /// Makes a record a child of another, whose row the command has locked.
    ///
    /// - Precondition: It has no parent, and no child of the parent has its number.
    package mutating func adopt(_ record: RecordID, by parent: RecordID, number: Int64) {
        changeCount += 1
        newBytes += Self.rowBytes
        precondition(rows.children[parent]?[number] == nil)
        rows.children[parent]?[number] = record
        written.children.append(Child(parent: parent, number: number, record: record))
    }

    /// Writes a record's next version and the event about it.
    package mutating func put(_ record: Record, event: Event? = nil) {
        changeCount += 1
        if record.version == 1 { newBytes += Self.rowBytes + record.body.utf8.count }
        let wasDue = rows.records[record.id]?.dueAt != nil
        let isDue = record.dueAt != nil
        let group = RecordGroup(owner: record.owner, kind: record.kind)
        if isDue != wasDue { rows.dueCounts[group]? += isDue ? 1 : -1 }
        changedRecords.insert(record.id)
        rows.records[record.id] = record
        if let event { written.events.append(event) }
    }

    package mutating func probe(at time: Timestamp) {
        changeCount += 1
        written.probedAt = time
    }

    // MARK: Money

    /// Moves money. No other method changes a balance. If it throws, nothing has changed.
    ///
    /// - Parameters:
    ///   - lines: Accounts and amounts in minor units whose sum is zero in each currency; several
    ///     amounts of one account are added up.
    ///   - step: The step of the record; a step can be posted only once.
    /// - Throws: `insufficientBalance`, `noWalletInCurrency`, `balanceTooLarge`.
    /// - Precondition: The kind allows the parties and the step, and a pot belongs to the record.
    @discardableResult
    package mutating func post(
        _ kind: TransferKind,
        _ lines: [(account: Account.Key, amount: Int64)],
        record: RecordID,
        step: String,
        at time: Timestamp
    ) throws(Refusal) -> Transfer {
        let amounts = Self.added(lines)
        precondition((2...Self.entryLimit).contains(amounts.count) && kind.allows(step))
        let key = Transfer.Key(record, step)
        precondition(!posted.contains(key), "a step is posted once")
        // Debits first: a payer without enough money gets that refusal even if the other side has a
        // problem.
        var changed: [Account] = []
        var (paid, refunding): ([UserID], [UserID]) = ([], [])
        var entries: [Entry] = []
        for (account, amount) in amounts.filter({ $0.1 < 0 }) + amounts.filter({ $0.1 > 0 }) {
            precondition((amount < 0 ? kind.from : kind.to).contains(account.owner.party))
            if case .pot(let owner) = account.owner { precondition(owner == record) }
            let next = try posted(amount, to: account, kind, at: time)
            if case .user(let user) = account.owner {
                if amount > 0, kind.earner == .receiver { paid.append(user) }
                if amount < 0, kind.earner == .sender { refunding.append(user) }
            }
            changed.append(next)
            entries.append(
                Entry(
                    account: account,
                    number: next.entryCount,
                    transfer: key,
                    kind: kind.name,
                    at: next.changedAt,
                    amount: amount,
                    balance: next.balance,
                    earned: next.earned
                )
            )
        }
        for account in changed { put(account) }
        let transfer = Transfer(key: key, kind: kind.name, at: time, entries: entries)
        posted.insert(key)
        written.transfers.append(transfer)
        written.paidUsers += paid
        written.refundingUsers += refunding
        return transfer
    }

    /// Checks that an account can be credited. A command that posts two transfers calls this before
    /// the first, because it may refuse nothing after that.
    ///
    /// - Throws: As `post` does.
    package func require(
        room amount: Int64,
        of kind: TransferKind,
        in account: Account.Key
    ) throws(Refusal) {
        let now = rows.accounts[account]?.changedAt ?? Timestamp(milliseconds: 0)
        _ = try posted(amount, to: account, kind, at: now)
    }

    /// Returns the amounts by account, sorted by account.
    ///
    /// - Precondition: The sum is zero in each currency, and nonzero for each account.
    private static func added(
        _ lines: [(account: Account.Key, amount: Int64)]
    ) -> [(Account.Key, Int64)] {
        var amounts: [Account.Key: Int64] = [:]
        var sums: [Currency: Int64] = [:]
        for line in lines {
            amounts[line.account, default: 0] += line.amount
            sums[line.account.currency, default: 0] += line.amount
        }
        precondition(sums.values.allSatisfy { $0 == 0 } && amounts.values.allSatisfy { $0 != 0 })
        return amounts.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    private func posted(
        _ amount: Int64,
        to key: Account.Key,
        _ kind: TransferKind,
        at time: Timestamp
    ) throws(Refusal) -> Account {
        let account: Account
        if let known = rows.accounts[key] {
            account = known
        } else if case .user = key.owner {
            guard amount < 0 else { throw Refusal(.noWalletInCurrency) }
            throw Refusal(.insufficientBalance, required: -amount, available: 0)
        } else {
            account = Account(key, changedAt: time)
        }
        var next = account
        let allowed = key.owner.allowedBalances
        let (balance, overflows) = account.balance.addingReportingOverflow(amount)
        guard amount > 0 || allowed.lowerBound < 0 || balance >= 0 else {
            throw Refusal(.insufficientBalance, required: -amount, available: account.balance)
        }
        guard !overflows, allowed.contains(balance) else { throw Refusal(.balanceTooLarge) }
        next.balance = balance
        if kind.earner == (amount > 0 ? .receiver : .sender) {
            let (earned, overflows) = account.earned.addingReportingOverflow(amount)
            guard !overflows else { throw Refusal(.balanceTooLarge) }
            next.earned = earned
        }
        next.entryCount += 1
        next.changedAt = max(time, account.changedAt)
        return next
    }

    private mutating func put(_ account: Account) {
        changeCount += 1
        changedAccounts.insert(account.key)
        rows.accounts[account.key] = account
    }

    // MARK: Commands

    /// Decides a command whose answer is not stored.
    ///
    /// - Precondition: If the command refuses, it has changed nothing.
    package mutating func decide<Command: LedgerCommand>(
        _ command: Command,
        at time: Timestamp
    ) -> Result<Command.Outcome, Refusal> {
        let before = changeCount
        do throws(Refusal) {
            return .success(try command.decide(on: &self, at: time))
        } catch {
            precondition(changeCount == before, "a refused command changes nothing")
            return .failure(error)
        }
    }

    /// Decides a command with an idempotency key. If the key has a stored answer, that answer is
    /// returned, even if the state has changed since.
    package mutating func decide<Command: KeyedCommand>(
        _ command: Command,
        as request: KeyedRequest,
        at time: Timestamp
    ) throws(LedgerError) -> CommandReply<Command.Outcome> {
        let key = request.answerKey(Command.name)
        if let known = rows.answers[key] { return try Self.replay(known, of: request) }
        guard rows.knows(request.user) else {
            return CommandReply(.failure(Refusal(.unknownUser)), requestID: request.id)
        }
        if command.spender != nil, request.isOverBudget {
            return CommandReply(.failure(Refusal(.dailyLimit)), requestID: request.id)
        }
        let count = written.transfers.count
        let outcome = decide(command, at: time)
        let decision: Answer.Decision
        switch outcome {
        case .success(let value):
            // If this fails, the program stops: a transfer must not be committed without its
            // answer.
            guard let json = try? canonicalJSON(value) else {
                preconditionFailure("an outcome can be written as JSON")
            }
            decision = .outcome(json)
        case .failure(let refusal):
            let isForgotten =
                request.isOverBudget || refusal.isUnknownSession && !request.remembersUnknown
            guard refusal.isRemembered, !isForgotten else {
                return CommandReply(outcome, requestID: request.id)
            }
            decision = .refused(refusal)
        }
        let transfer = written.transfers.dropFirst(count).first?.key
        let answer = Answer(
            key: key,
            fingerprint: request.fingerprint,
            decision: decision,
            record: transfer?.record ?? command.record,
            step: transfer?.step,
            requestID: request.id,
            decidedAt: time
        )
        rows.answers[key] = answer
        written.answers.append(answer)
        changeCount += 1
        newBytes += 2 * Self.rowBytes
        return CommandReply(outcome, requestID: request.id, isRemembered: true)
    }

    private static func replay<Outcome: Decodable>(
        _ answer: Answer,
        of request: KeyedRequest
    ) throws(LedgerError) -> CommandReply<Outcome> {
        guard answer.fingerprint == request.fingerprint else {
            return CommandReply(.failure(Refusal(.keyReused)), requestID: request.id)
        }
        return try CommandReply(answer)
    }
}

/// Encodes JSON with sorted members, so that the same value always gives the same text.
///
/// - Throws: `LedgerError` with `corrupt` for a value that JSON cannot represent.
package func canonicalJSON(_ value: some Encodable) throws(LedgerError) -> String {
    do {
        return String(decoding: try CanonicalJSON.encode(value), as: UTF8.self)
    } catch {
        throw LedgerError.corrupt("a value")
    }
}

/// Decodes the output of `canonicalJSON`.
///
/// - Throws: `LedgerError` with `corrupt`.
package func decoded<Value: Decodable>(
    _ type: Value.Type = Value.self,
    from json: String
) throws(LedgerError) -> Value {
    do {
        return try decoder.decode(type, from: Data(json.utf8))
    } catch {
        throw LedgerError.corrupt("a \(type)")
    }
}

private let decoder = JSONDecoder()
