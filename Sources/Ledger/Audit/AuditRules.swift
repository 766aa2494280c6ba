internal import GotchuCore

/// The result of checking the ledger's rules on one snapshot of a database that may be in use.
package struct Audit: Sendable {
    /// The result of one rule.
    package struct Finding: Equatable, Sendable {
        /// The sentence that must be true.
        package let rule: String
        /// The number of rows checked.
        package let count: Int64
        /// The first row that breaks the rule, if one does.
        package let violation: String?
        /// The remedy if the rule is broken.
        package let remedy: Remedy

        package init(rule: String, count: Int64, violation: String?, remedy: Remedy = .restore) {
            self.rule = rule
            self.count = count
            self.violation = violation
            self.remedy = remedy
        }
    }

    /// The remedies for a ledger that breaks a rule.
    package enum Remedy: CaseIterable, Sendable {
        /// Restore a backup that breaks no rule.
        case restore
        /// Recreate what holds no money: indexes, the guards of insert-only tables, or rows of
        /// `due` and `deliveries`.
        case recreate
        /// Use a newer version of the program, which can read the rows.
        case update
        /// Check that the given seal was printed for this ledger. If the ledger was restored from a
        /// backup, the seal must also have been printed before that backup was made.
        case compareSeals
    }

    package var findings: [Finding]
    /// The last seal of each chain that no other chain continues. Operators record these seals
    /// outside the database.
    package var heads: [SealPin] = []

    package init(findings: [Finding]) {
        self.findings = findings
    }

    package var isClean: Bool { remedies.isEmpty }

    package var remedies: Set<Remedy> { Set(findings.filter { $0.violation != nil }.map(\.remedy)) }
}

/// All rows of the ledger about one record.
package struct RecordRows: Sendable {
    package let record: Record?
    /// Sorted by step.
    package let transfers: [Transfer]
    /// The answers that name one of its transfers.
    package let answers: [Answer]
    /// The unique names that refer to it, or have referred to it.
    package let names: [Name]
    /// Its children sorted by number, if its rule reads them.
    package let children: [(number: Int64, record: Record)]

    package init(
        record: Record?,
        transfers: [Transfer],
        answers: [Answer],
        names: [Name],
        children: [(number: Int64, record: Record)] = []
    ) {
        self.record = record
        self.transfers = transfers
        self.answers = answers
        self.names = names
        self.children = children
    }
}

/// A rule of one kind of record.
package struct RecordRule: Sendable {
    /// The name of the kind.
    package let kind: String
    /// The sentence that must be true.
    package let rule: String
    /// A Boolean that is true if the rule needs the record's children.
    package let readsChildren: Bool
    /// - Returns: The reason why a record breaks this rule; `nil` if it complies.
    package let violation: @Sendable (Record, RecordRows) -> String?

    package init(
        kind: String,
        rule: String,
        readsChildren: Bool = false,
        violation: @escaping @Sendable (Record, RecordRows) -> String?
    ) {
        self.kind = kind
        self.rule = rule
        self.readsChildren = readsChildren
        self.violation = violation
    }
}

/// The rules for transfers and accounts, checked row by row.
package struct LedgerRules: Sendable {
    private let kinds: [String: TransferKind]

    package init(_ kinds: [TransferKind]) {
        self.kinds = Dictionary(uniqueKeysWithValues: kinds.map { ($0.name, $0) })
    }

    /// - Returns: The reason why a transfer breaks the rules, if it does.
    package func violation(_ transfer: Transfer, storedHash: [UInt8]) -> String? {
        let name = "transfer \(transfer.key.step) of \(transfer.key.record)"
        guard let kind = kinds[transfer.kind] else {
            return "\(name) has the unknown kind \(transfer.kind)"
        }
        guard kind.allows(transfer.key.step) else {
            return "\(name): the kind \(kind.name) does not allow this step"
        }
        var sums: [Currency: Int64] = [:]
        var accounts: Set<Account.Key> = []
        for entry in transfer.entries {
            let currency = entry.account.currency
            let (sum, overflows) = sums[currency, default: 0]
                .addingReportingOverflow(entry.amount)
            guard !overflows else { return "\(name): the sum of its entries overflows" }
            sums[currency] = sum
            if let reason = violation(entry, of: kind, in: transfer) { return "\(name): \(reason)" }
            guard accounts.insert(entry.account).inserted else {
                let owner = entry.account.owner.rawValue
                return "\(name) has two entries of \(owner) in \(currency.rawValue)"
            }
        }
        guard transfer.entries.count >= 2 else {
            return "\(name) must have at least two entries, and has \(transfer.entries.count)"
        }
        let unequal = sums.filter { $0.value != 0 }.min { $0.key.rawValue < $1.key.rawValue }
        if let (currency, sum) = unequal {
            return "\(name): its entries in \(currency.rawValue) sum to \(sum), not to 0"
        }
        guard kind != .opening || isOpening(transfer) else {
            return "\(name) is not the first credit of user \(transfer.key.record)"
        }
        guard transfer.hash == storedHash else { return "\(name) does not match its stored hash" }
        return nil
    }

    /// - Returns: The reason why an entry does not fit its transfer, if it does not.
    private func violation(
        _ entry: Entry,
        of kind: TransferKind,
        in transfer: Transfer
    ) -> String? {
        let owner = entry.account.owner
        guard entry.kind == kind.name else {
            return "the entry of \(owner.rawValue) has the kind \(entry.kind)"
        }
        guard entry.amount != 0 else { return "the entry of \(owner.rawValue) has the amount 0" }
        let isDebit = entry.amount < 0
        guard (isDebit ? kind.from : kind.to).contains(owner.party) else {
            let verb = isDebit ? "debit" : "credit"
            return "the kind \(kind.name) may not \(verb) \(owner.rawValue)"
        }
        if case .pot(let record) = owner, record != transfer.key.record {
            return "it moves money of the pot of another record, \(record)"
        }
        return nil
    }

    /// Returns true if the transfer's record is a user, and one of its entries is that user's first
    /// entry and a credit.
    private func isOpening(_ transfer: Transfer) -> Bool {
        transfer.entries.contains {
            $0.amount > 0 && $0.number == 1
                && $0.account.owner == .user(UserID(trusted: transfer.key.record.rawValue))
        }
    }

    /// - Parameter isRecorded: True if the transfer's record exists.
    /// - Returns: The reason why a transfer and the answers that name it disagree, if they do.
    package func violation(
        _ transfer: Transfer,
        answeredBy answers: [Answer],
        isRecorded: Bool
    ) -> String? {
        let name = "transfer \(transfer.key.step) of \(transfer.key.record)"
        let isAnswered = kinds[transfer.kind].map(\.isAnswered) ?? false
        let expected = isAnswered.map { $0 ? 1...1 : 0...0 } ?? 0...1
        guard expected.contains(answers.count) else {
            let limit = expected.lowerBound == expected.upperBound ? "" : "at most "
            return "\(name) has \(answers.count) answers, expected \(limit)\(expected.upperBound)"
        }
        // An opening's record is the user, and an unknown kind is reported by another rule.
        guard let kind = kinds[transfer.kind], kind != .opening, !isRecorded else { return nil }
        return "\(name): its record is missing"
    }

    /// Returns the change of an account's earnings by an entry.
    fileprivate func earned(by entry: Entry) -> Int64 {
        switch kinds[entry.kind]?.earner {
        case .receiver where entry.amount > 0: entry.amount
        case .sender where entry.amount < 0: entry.amount
        default: 0
        }
    }
}

/// A check of an account's entries, which are added in order.
package struct AccountCheck: Sendable {
    package let key: Account.Key
    private let rules: LedgerRules
    private var number: Int64 = 0
    private var balance: Int64 = 0
    private var earned: Int64 = 0
    private var at: Timestamp?

    package init(_ key: Account.Key, _ rules: LedgerRules) {
        self.key = key
        self.rules = rules
    }

    /// - Returns: The reason why the entry cannot follow those added before, if it cannot.
    package mutating func add(_ entry: Entry) -> String? {
        let name = "entry \(entry.number) of \(key.owner.rawValue)"
        guard entry.number == number + 1 else {
            return "account of \(key.owner.rawValue): expected entry \(number + 1), "
                + "found entry \(entry.number)"
        }
        number += 1
        let (sum, overflows) = balance.addingReportingOverflow(entry.amount)
        guard !overflows else {
            return "\(name): balance \(balance) and amount \(entry.amount) overflow"
        }
        guard sum == entry.balance else {
            return "\(name): balance \(entry.balance), expected \(sum)"
        }
        balance = sum
        earned &+= rules.earned(by: entry)
        guard earned == entry.earned else {
            return "\(name): earned \(entry.earned), expected \(earned)"
        }
        guard key.owner.allowedBalances.contains(balance) else {
            return "\(name): balance \(balance) is not allowed"
        }
        if let at, entry.at < at { return "\(name) is older than entry \(number - 1)" }
        at = entry.at
        return nil
    }

    /// - Returns: The reason why the account differs from the sum of its entries, if it does.
    package func violation(_ account: Account?) -> String? {
        let name = "account of \(key.owner.rawValue)"
        guard let account else { return "\(name) is missing" }
        if account.entryCount != number {
            return "\(name): \(account.entryCount) entries, expected \(number)"
        }
        if account.balance != balance {
            return "\(name): balance \(account.balance), expected \(balance)"
        }
        if account.earned != earned {
            return "\(name): earned \(account.earned), expected \(earned)"
        }
        guard let at, account.changedAt != at else { return nil }
        return "\(name): changed at \(account.changedAt), expected \(at)"
    }
}
