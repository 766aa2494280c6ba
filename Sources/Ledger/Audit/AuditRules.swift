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
        package let broken: String?
        /// The remedy if the rule is broken.
        package let remedy: Remedy

        package init(rule: String, count: Int64, broken: String?, remedy: Remedy = .restore) {
            self.rule = rule
            self.count = count
            self.broken = broken
            self.remedy = remedy
        }
    }

    /// The remedies for a ledger that breaks a rule.
    package enum Remedy: CaseIterable, Sendable {
        /// Restore a backup that breaks no rule.
        case restore
        /// Recreate indexes, guards of insert-only tables, or rows that hold no money.
        case recreate
        /// Use a newer version of the program, which can read the rows.
        case update
        /// Check that the recorded seal is from this ledger, and not newer than a restored backup.
        case compareSeals
    }

    package var findings: [Finding]
    /// The last seal of each chain that no other continues, to record outside the database.
    package var heads: [SealPin] = []

    package init(findings: [Finding]) {
        self.findings = findings
    }

    package var isClean: Bool { remedies.isEmpty }

    package var remedies: Set<Remedy> { Set(findings.filter { $0.broken != nil }.map(\.remedy)) }
}

/// Everything that the ledger holds about one record.
package struct RecordFile: Sendable {
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
    package let broken: @Sendable (Record, RecordFile) -> String?

    package init(
        kind: String,
        rule: String,
        readsChildren: Bool = false,
        broken: @escaping @Sendable (Record, RecordFile) -> String?
    ) {
        self.kind = kind
        self.rule = rule
        self.readsChildren = readsChildren
        self.broken = broken
    }
}

/// The rules for transfers and accounts, checked row by row.
package struct LedgerRules: Sendable {
    private let kinds: [String: TransferKind]

    package init(_ kinds: [TransferKind]) {
        self.kinds = Dictionary(uniqueKeysWithValues: kinds.map { ($0.name, $0) })
    }

    /// - Returns: The reason why a transfer breaks the rules, if it does.
    package func broken(_ transfer: Transfer, storedHash: [UInt8]) -> String? {
        let name = "transfer \(transfer.key.step) of \(transfer.key.record)"
        guard let kind = kinds[transfer.kind] else {
            return "\(name) is \(transfer.kind), which is no kind"
        }
        guard kind.allows(transfer.key.step) else { return "\(name) is no step of \(kind.name)" }
        var sums: [Currency: Int64] = [:]
        var accounts: Set<Account.Key> = []
        for entry in transfer.entries {
            let (sum, overflows) = sums[entry.account.currency, default: 0]
                .addingReportingOverflow(entry.amount)
            guard !overflows else { return "\(name): its entries do not add up" }
            sums[entry.account.currency] = sum
            let parties = entry.amount < 0 ? kind.from : kind.to
            guard parties.contains(entry.account.owner.party) else {
                return
                    "\(name): \(kind.name) does not move money of \(entry.account.owner.rawValue)"
            }
            if case .pot(let record) = entry.account.owner, record != transfer.key.record {
                return "\(name) moves money of the pot of \(record)"
            }
            guard entry.kind == kind.name, entry.amount != 0,
                accounts.insert(entry.account).inserted
            else {
                return "\(name): its entries are not those of one \(kind.name)"
            }
        }
        guard transfer.entries.count >= 2, sums.values.allSatisfy({ $0 == 0 }) else {
            return "\(name): \(transfer.entries.count) entries, sum \(sums.values.sorted())"
        }
        guard kind != .opening || isOpening(transfer) else { return "\(name) opens no account" }
        guard transfer.hash == storedHash else { return "\(name) is not what was sealed" }
        return nil
    }

    /// Returns true if the transfer is the first credit to the user whose id is its record id.
    private func isOpening(_ transfer: Transfer) -> Bool {
        transfer.entries.contains {
            $0.amount > 0 && $0.number == 1
                && $0.account.owner == .user(UserID(trusted: transfer.key.record.rawValue))
        }
    }

    /// - Parameter isRecorded: True if the transfer's record exists.
    /// - Returns: The reason why a transfer and the answers that name it disagree, if they do.
    package func broken(
        _ transfer: Transfer,
        answeredBy answers: [Answer],
        isRecorded: Bool
    ) -> String? {
        let name = "transfer \(transfer.key.step) of \(transfer.key.record)"
        let isAnswered = kinds[transfer.kind].map(\.isAnswered) ?? false
        let expected = isAnswered.map { $0 ? 1...1 : 0...0 } ?? 0...1
        guard expected.contains(answers.count) else {
            return "\(name) has \(answers.count) answers"
        }
        // An opening's record is the user, and an unknown kind is reported by another rule.
        guard let kind = kinds[transfer.kind], kind != .opening, !isRecorded else { return nil }
        return "\(name) is about nothing"
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

/// A check of an account's entries in order.
package struct AccountRun: Sendable {
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

    /// - Returns: The reason why the next entry does not follow, if it does not.
    package mutating func follow(_ entry: Entry) -> String? {
        let name = "entry \(entry.number) of \(key.owner.rawValue)"
        guard entry.number == number + 1 else {
            return "\(name): entry \(number + 1) is missing before it"
        }
        number += 1
        let (sum, overflows) = balance.addingReportingOverflow(entry.amount)
        guard !overflows, sum == entry.balance else {
            return "\(name): balance \(entry.balance), expected \(sum)"
        }
        balance = sum
        earned &+= rules.earned(by: entry)
        guard earned == entry.earned else {
            return "\(name): earned \(entry.earned), expected \(earned)"
        }
        guard key.owner.allowedBalances.contains(balance) else {
            return "\(name): balance \(balance)"
        }
        if let at, entry.at < at { return "\(name) is older than the one before it" }
        at = entry.at
        return nil
    }

    /// - Returns: The reason why the account differs from the sum of its entries, if it does.
    package func broken(_ account: Account?) -> String? {
        guard let account else { return "account of \(key.owner.rawValue) is missing" }
        let isRight =
            account.entryCount == number && account.balance == balance && account.earned == earned
            && (at.map { $0 == account.changedAt } ?? true)
        guard !isRight else { return nil }
        return "account of \(key.owner.rawValue): balance \(account.balance) of "
            + "\(account.entryCount) entries, expected \(balance) of \(number)"
    }
}
