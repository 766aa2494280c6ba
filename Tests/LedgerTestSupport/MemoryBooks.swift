package import GotchuCore
package import Ledger
internal import Payments

/// A ledger's rows in memory. It checks the guarantees of a database: unique names, and transfers
/// and answers that are only ever added.
package struct MemoryBooks: Equatable, Sendable {
    /// All rows except transfers, events and seals.
    package var rows = Snapshot()
    package private(set) var transfers: [Transfer.Key: Transfer] = [:]
    package private(set) var events: [Event] = []
    /// The seals in the order of their commits.
    package private(set) var seals: [Seal] = []
    private var leases: [RecordID: Timestamp] = [:]
    private var brokenPromise: String?

    package init() {}

    /// The ledger without its seals. Each batch has a seal, so ledgers with the same commands in
    /// different batches are equal only without seals.
    package var withoutSeals: MemoryBooks {
        var books = self
        books.seals = []
        return books
    }

    /// Returns all rows, as a snapshot that contains more than a batch needs.
    package func everything(for batch: Batch) -> Snapshot {
        var all = rows
        for user in Cast.users + rows.users.keys {
            let group = Cast.sessions(of: user)
            all.dueCounts[group] = dueCount(of: group)
        }
        if batch.footprint(knowing: nil).needsNewestSeal { all.newestSeal = seals.last ?? .origin }
        return all
    }

    // MARK: As a store

    /// Returns only the rows of a batch's footprint, loaded round by round as a store does.
    package func load(_ batch: Batch) -> Snapshot {
        var loaded = Snapshot()
        for round in 1...Footprint.roundLimit {
            var footprint = batch.footprint(knowing: round == 1 ? nil : loaded)
            if round == Footprint.roundLimit { footprint.needsAnotherRound = false }
            add(footprint, to: &loaded)
            if !footprint.needsAnotherRound { break }
        }
        return loaded
    }

    private func add(_ footprint: Footprint, to loaded: inout Snapshot) {
        for name in footprint.names { loaded.names[name] = rows.names[name] }
        for user in footprint.users { loaded.users[user] = rows.users[user] }
        for record in footprint.records.union(footprint.children) {
            loaded.records[record] = rows.records[record]
        }
        for parent in footprint.children {
            loaded.children[parent] = rows.children[parent, default: [:]]
            for child in rows.children[parent, default: [:]].values {
                loaded.records[child] = rows.records[child]
            }
        }
        for key in footprint.answers { loaded.answers[key] = rows.answers[key] }
        for group in footprint.dueGroups { loaded.dueCounts[group] = dueCount(of: group) }
        if footprint.needsNewestSeal { loaded.newestSeal = seals.last ?? .origin }
        guard !footprint.needsAnotherRound else { return }
        let recordOwners = footprint.ownedRecords.intersection(footprint.records)
            .compactMap { rows.records[$0]?.accountOwners }
        let owners = footprint.owners.union(recordOwners.joined())
        for (key, account) in rows.accounts where owners.contains(key.owner) {
            loaded.accounts[key] = account
        }
    }

    /// Decides a batch on the rows of its footprint, and saves the changes.
    @discardableResult
    package mutating func commit(_ batch: Batch) throws -> Effects {
        let effects = batch.decide(on: load(batch))
        save(effects)
        return effects
    }

    package mutating func save(_ effects: Effects) {
        for user in effects.newUsers {
            promise(rows.users.updateValue(user, forKey: user.id) == nil, "a user taken in twice")
        }
        for user in effects.changedUsers {
            promise(rows.users.updateValue(user, forKey: user.id) != nil, "terms of nobody")
        }
        for name in effects.names + effects.releasedNames {
            let known = rows.names.updateValue(name, forKey: name.text)
            let isSame = known.map { $0.target == name.target } ?? true
            // If a record released the name in this batch, the record is among the batch's records.
            let isGivenUp = effects.records.contains { $0.id.rawValue == known?.target }
            promise(isSame || known?.until != nil || isGivenUp, "a name given to another")
        }
        for child in effects.children {
            let known = rows.children[child.parent, default: [:]]
                .updateValue(child.record, forKey: child.number)
            promise(known == nil, "a child's number given twice")
        }
        for record in effects.records {
            if record.dueAt != rows.records[record.id]?.dueAt { leases[record.id] = nil }
            let known = rows.records.updateValue(record, forKey: record.id)
            promise(record.version > known?.version ?? 0, "a record's version that is not newer")
            promise(known.map { $0.owner == record.owner } ?? true, "a record of another owner")
        }
        for account in effects.accounts { rows.accounts[account.key] = account }
        for transfer in effects.transfers {
            let isNew = transfers.updateValue(transfer, forKey: transfer.key) == nil
            promise(isNew, "a step posted twice")
        }
        for answer in effects.answers {
            let isNew = rows.answers.updateValue(answer, forKey: answer.key) == nil
            promise(isNew, "a key decided twice")
        }
        events += effects.events
        promise((effects.seal == nil) == effects.transfers.isEmpty, "a batch without its seal")
        if let seal = effects.seal {
            let newest = seals.last ?? .origin
            promise(seal.previous == newest.hash, "a seal that does not follow the newest")
            let isNext = newest.chain == seal.chain
            let before = isNext ? newest : .beginning(of: seal.chain, after: newest)
            promise(before.next(over: effects.transfers) == seal, "a seal of other transfers")
            seals.append(seal)
        }
    }

    /// Leases due records of a kind, the earliest due first.
    package mutating func claimDue(
        kind: String,
        at time: Timestamp,
        until leaseEnd: Timestamp,
        limit: Int
    ) -> [DueRecord] {
        let free = due(at: time).filter { record in
            record.kind == kind && leases[record.id].map { $0 <= time } ?? true
        }
        for record in free.prefix(limit) { leases[record.id] = leaseEnd }
        return Array(free.prefix(limit))
    }

    /// Returns the records that are due at a time, the earliest due first.
    package func due(at time: Timestamp) -> [DueRecord] {
        let due = rows.records.values.compactMap { record in
            record.dueAt.map { (at: $0, record: DueRecord(id: record.id, kind: record.kind)) }
        }
        return due.filter { $0.at <= time }.sorted { $0.at < $1.at }.map(\.record)
    }

    /// Returns a record's children in the order of their numbers.
    package func children(of record: RecordID) -> [(number: Int64, record: Record)] {
        rows.children[record, default: [:]].sorted { $0.key < $1.key }
            .compactMap { number, id in rows.records[id].map { (number, $0) } }
    }

    /// Returns a record with its transfers, answers, names and children.
    package func recordRows(of record: RecordID) -> RecordRows {
        RecordRows(
            record: rows.records[record],
            transfers: transfers.values.filter { $0.key.record == record }
                .sorted { $0.key.step < $1.key.step },
            answers: rows.answers.values.filter { $0.transfer?.record == record },
            names: rows.names.values.filter { $0.target == record.rawValue },
            children: children(of: record)
        )
    }

    private mutating func promise(_ isKept: Bool, _ promise: String) {
        if !isKept { brokenPromise = promise }
    }

    private func dueCount(of group: RecordGroup) -> Int {
        rows.records.values.count {
            $0.owner == group.owner && $0.kind == group.kind && $0.dueAt != nil
        }
    }

    // MARK: The rules

    /// The first broken rule of the ledger; `nil` if there is none.
    package var complaint: String? {
        brokenPromise ?? transferComplaint ?? accountComplaint
            ?? sessionComplaint(Array(rows.records.values))
    }

    /// Returns the first broken rule; `nil` if there is none. Of the sessions, only those that a
    /// batch changed are checked.
    package func complaint(after effects: Effects) -> String? {
        guard !effects.isEmpty else { return brokenPromise }
        return brokenPromise ?? transferComplaint ?? accountComplaint
            ?? sessionComplaint(effects.records)
    }

    private var transferComplaint: String? {
        for transfer in transfers.values {
            guard transfer.entries.count >= 2, transfer.entries.allSatisfy({ $0.amount != 0 }),
                transfer.entries.map(\.amount).reduce(0, +) == 0,
                Set(transfer.entries.map(\.account)).count == transfer.entries.count,
                transfer.entries.allSatisfy({ $0.transfer == transfer.key })
            else { return "\(transfer.key) is no transfer" }
            let answers = rows.answers.values.count { $0.transfer == transfer.key }
            let isAnswered = !["OPENING", "RELEASE", "RETURN"].contains(transfer.kind)
            guard answers == (isAnswered ? 1 : 0) else {
                return "\(transfer.key) is the answer to \(answers) keys"
            }
        }
        for answer in rows.answers.values {
            let transfer = answer.transfer.flatMap { transfers[$0] }
            let isRight =
                switch answer.decision {
                case .outcome: transfer?.at == answer.decidedAt
                case .refused: answer.transfer == nil
                }
            guard isRight else { return "\(answer) and its transfer differ" }
        }
        return nil
    }

    private var accountComplaint: String? {
        let entries = Dictionary(grouping: transfers.values.flatMap(\.entries), by: \.account)
        guard Set(entries.keys).isSubset(of: rows.accounts.keys) else { return "a lost account" }
        var sum: Int64 = 0
        for account in rows.accounts.values {
            var balance: Int64 = 0
            var earned: Int64 = 0
            var number: Int64 = 0
            var at: Timestamp?
            for entry in (entries[account.key] ?? []).sorted(by: { $0.number < $1.number }) {
                number += 1
                balance += entry.amount
                if entry.kind == "PAYMENT" || entry.kind == "RELEASE" {
                    earned += max(0, entry.amount)
                }
                if entry.kind == "REFUND" { earned += min(0, entry.amount) }
                let isInOrder = at.map { entry.at >= $0 } ?? true
                guard entry.number == number, entry.balance == balance, entry.earned == earned,
                    isInOrder, balance >= 0 || account.key == Cast.mint
                else { return "\(entry) does not follow" }
                at = entry.at
            }
            guard account.balance == balance, account.earned == earned,
                account.entryCount == number, account.changedAt == at ?? account.changedAt
            else { return "\(account) is not the sum of its entries" }
            sum += balance
        }
        return sum == 0 ? nil : "money is not conserved: \(sum)"
    }

    private func sessionComplaint(_ records: [Record]) -> String? {
        var refunds: [RecordID: Int64] = [:]
        var payments: [RecordID: Int64] = [:]
        for transfer in transfers.values {
            // The transfers of groups have their own rules.
            if transfer.key.record.rawValue.hasPrefix("g-") { continue }
            let moved = transfer.entries.map { max(0, $0.amount) }.reduce(0, +)
            if transfer.kind == "REFUND" { refunds[transfer.key.record, default: 0] += moved }
            if transfer.kind == "PAYMENT" { payments[transfer.key.record] = moved }
        }
        guard Set(refunds.keys).isSubset(of: payments.keys) else { return "a refund of nothing" }
        guard Set(payments.keys).isSubset(of: rows.records.keys) else {
            return "a payment of nothing"
        }
        // Groups and their shares have their own rules.
        for record in records where !record.id.rawValue.hasPrefix("g-") {
            guard let session = try? Session(record) else { return "\(record) cannot be read" }
            let paid = session.amount.minorUnits + (session.tip ?? 0)
            guard payments[record.id] == (session.status == .paid ? paid : nil) else {
                return "\(record) and its payment differ"
            }
            guard session.refunded == refunds[record.id, default: 0], session.refunded <= paid
            else { return "\(record): refunded more than is known, or than was paid" }
            guard rows.names[Session.name(of: session.eid)]?.target == record.id.rawValue else {
                return "\(record) cannot be found by its EID"
            }
        }
        return nil
    }
}
