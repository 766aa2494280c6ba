internal import GotchuCore
package import Ledger
internal import Payments

/// The rules by which `verify` checks contests and their child records.
extension RecordRule {
    package static let contests: [RecordRule] = [
        contest, entry, scores, objection, declaration, template, image, index, stop,
    ]

    private static let contest = RecordRule(
        kind: Contest.kind,
        rule: "every contest's pot matches its entries, and an ended contest was paid out once "
            + "(contests)",
        readsChildren: true
    ) { record, rows in
        guard let contest = try? Contest(record) else {
            return "contest \(record.id) cannot be read"
        }
        return contest.violation(record, rows).map { "contest \(record.id): \($0)" }
    }

    private static let entry = RecordRule(
        kind: ContestEntry.kind,
        rule: "every user has at most one current entry in a contest (contest entries)"
    ) { record, rows in
        guard let entry = try? ContestEntry(record), entry.record == record else {
            return record.unreadableMessage("entry")
        }
        let name = Name(ContestID.entryName(entry.contest, entry.user), target: record.id.rawValue)
        return entry.isCurrent && !rows.names.contains(name)
            ? "entry \(record.id) is current, but the name \(name.text) does not refer to it" : nil
    }

    private static let scores = RecordRule(
        kind: ScoreRevision.kind,
        rule: "every score revision can be read (contest scores)"
    ) { record, _ in
        let copy = (try? ScoreRevision(record))?.record
        return copy == record ? nil : record.unreadableMessage("score revision")
    }

    private static let objection = RecordRule(
        kind: Objection.kind,
        rule: "every objection can be read (contest objections)"
    ) { record, _ in
        let copy = (try? Objection(record))?.record
        return copy == record ? nil : record.unreadableMessage("objection")
    }

    private static let declaration = RecordRule(
        kind: Declaration.kind,
        rule: "every declaration of a result can be read (contest declarations)"
    ) { record, _ in
        let copy = (try? Declaration(record))?.record
        return copy == record ? nil : record.unreadableMessage("declaration")
    }

    private static let template = RecordRule(
        kind: ContestTemplate.kind,
        rule: "every template can be read (contest templates)"
    ) { record, _ in
        (try? ContestTemplate(record)) == nil ? "template \(record.id) cannot be read" : nil
    }

    private static let image = RecordRule(
        kind: TemplateImage.kind,
        rule: "every image of a template can be read, and its id is its hash (contest images)"
    ) { record, _ in
        (try? TemplateImage(record)) == nil
            ? "image \(record.id) cannot be read, or has another hash" : nil
    }
}

extension RecordRule {
    private static let index = RecordRule(
        kind: ContestIndex.kind,
        rule: "the index of public contests can be read (contest index)"
    ) { record, _ in
        (try? ContestIndex(record)) == nil
            ? "the index of public contests, \(record.id), cannot be read" : nil
    }

    private static let stop = RecordRule(
        kind: ContestStop.kind,
        rule: "every stop of a contest can be read (contest stops)"
    ) { record, _ in
        (try? ContestStop(record)) == nil
            ? "record \(record.id) of a stopped contest cannot be read" : nil
    }
}

extension Contest {
    /// Returns the reason why the ledger's rows contradict the contest; `nil` if they do not.
    fileprivate func violation(_ record: Record, _ rows: RecordRows) -> String? {
        if self.record != record { return "its row differs from what the server writes" }
        var entries: [ContestEntry] = []
        var revisions: [ScoreRevision] = []
        var objections: Int64 = 0
        var declarations: Int64 = 0
        for (number, child) in rows.children {
            if let entry = try? ContestEntry(child), entry.contest == id {
                entries.append(entry)
                guard entry.number == number else {
                    return "child \(number) is entry \(entry.number)"
                }
            } else if let scores = try? ScoreRevision(child), scores.body.contest == id {
                revisions.append(scores)
            } else if child.kind == Objection.kind {
                objections += 1
            } else if child.kind == Declaration.kind {
                declarations += 1
            } else {
                return "child \(number), record \(child.id), cannot be read or is not its child"
            }
        }
        guard entries.map(\.number) == Array(1..<body.entryNumber + 1) else {
            return "its entries are not numbered from 1 to \(body.entryNumber)"
        }
        guard revisions.map(\.body.revision) == Array(1..<body.revision + 1) else {
            return "its score revisions are not numbered from 1 to \(body.revision)"
        }
        guard objections == body.objections else {
            return "it counts \(body.objections) objections, but has \(objections)"
        }
        guard declarations == body.declarations else {
            return "it counts \(body.declarations) declarations, but has \(declarations)"
        }
        return entryViolation(entries) ?? transferViolation(rows.transfers, entries)
            ?? answerViolation(rows, entries)
            ?? endViolation(rows, entries.filter(\.isCurrent), revisions)
    }

    /// Checks the number of current entries, and that no user has two.
    private func entryViolation(_ entries: [ContestEntry]) -> String? {
        var users: Set<UserID> = []
        for entry in entries where entry.isCurrent && !users.insert(entry.user).inserted {
            return "user \(entry.user) has two current entries"
        }
        return Int64(users.count) == body.entryCount
            ? nil : "it counts \(body.entryCount) current entries, but has \(users.count)"
    }

    /// Checks the amounts paid into the pot, and those refunded before the end.
    private func transferViolation(
        _ transfers: [Transfer],
        _ entries: [ContestEntry]
    ) -> String? {
        var expected: [String: [Account.Key: Int64]] = [:]
        for entry in entries where entry.body.fee > 0 {
            let (user, fee) = (account(of: entry.user), entry.body.fee)
            guard fee == terms.fee else {
                return "entry \(entry.number) paid \(fee), but the fee is \(terms.fee)"
            }
            expected["in/\(entry.number)"] = [user: -fee, pot: fee]
            if !entry.isCurrent { expected["out/\(entry.number)"] = [pot: -fee, user: fee] }
        }
        if paidPrize > 0 {
            expected["prize"] = [account(of: organizer): -paidPrize, pot: paidPrize]
        }
        for transfer in transfers where transfer.key.step != Self.endStep {
            let step = transfer.key.step
            guard let legs = expected.removeValue(forKey: step) else {
                return "transfer \(step) belongs to no entry, and is not the organiser's prize"
            }
            guard transfer.legs == legs else {
                let amount = (legs[pot] ?? 0).magnitude
                return "transfer \(step) does not move \(amount) between the pot and its user"
            }
        }
        return expected.keys.min().map { "transfer \($0) is missing" }
    }

    /// Checks that each payment of a fee has the matching answer, stored under its payer's key. For
    /// an entry bought at a desk, that is the answer to the payment of its share.
    private func answerViolation(_ rows: RecordRows, _ entries: [ContestEntry]) -> String? {
        var answers: [String: Answer] = [:]
        for answer in rows.answers {
            if let step = answer.transfer?.step { answers[step] = answer }
        }
        let transfersByStep = Dictionary(
            uniqueKeysWithValues: rows.transfers.map { ($0.key.step, $0) }
        )
        for entry in entries where entry.body.fee > 0 {
            let step = "in/\(entry.number)"
            guard let stake = transfersByStep[step], let answer = answers[step],
                answer.key.user == entry.user,
                entry.body.share == nil
                    ? answer.key.command == JoinContest.name : answer.isPayment(of: entry, stake)
            else { return "transfer \(step) has no answer, or one that does not match it" }
        }
        return nil
    }

    /// Checks the end of the contest: recomputes a settlement from its rows.
    private func endViolation(
        _ rows: RecordRows,
        _ entries: [ContestEntry],
        _ revisions: [ScoreRevision]
    ) -> String? {
        let end = rows.transfers.first { $0.key.step == Self.endStep }
        var legs: [(account: Account.Key, amount: Int64)] = []
        var kind = TransferKind.prize
        switch state {
        case .draft, .open, .locked, .live, .complete: break
        case .error:
            return "it is stopped, because its pot did not match its entries: run "
                + "gotchu-server contests recheck"
        case .cancelled:
            legs = refunds(to: entries)
            kind = .returned
        case .settled:
            let plan = SettlementPlan(terms, entries: entries, revisions: revisions)
            if let violation = plan.violation(of: self) { return violation }
            legs = plan.legs(of: self)
        }
        guard let end else {
            return legs.isEmpty ? nil : "it has ended, but its pot was not paid out"
        }
        guard !legs.isEmpty else { return "its pot was paid out, but nothing was to be paid" }
        guard end.kind == kind.name else {
            return "its pot was paid out by a transfer of the kind \(end.kind), not \(kind.name)"
        }
        let expected = Dictionary(uniqueKeysWithValues: legs.map { ($0.account, $0.amount) })
        return end.legs == expected
            ? nil : "its pot was not paid out as its entries and its settlement require"
    }
}

extension SettlementPlan {
    /// Returns the reason why a contest's settlement differs from this plan; `nil` if it does not.
    package func violation(of contest: Contest) -> String? {
        guard let settlement = contest.body.settlement else { return "it has no settlement" }
        guard settlement.inputsHash == inputsHash else {
            return "it was settled from other terms, entries or scores"
        }
        let movesMoney = !legs(of: contest).isEmpty
        let transfer = Transfer.Key(contest.id, Contest.endStep).id
        guard settlement.resultHash == resultHash, settlement.pool == division.pool,
            settlement.rake == division.rake, settlement.commission == division.commission,
            settlement.revision == contest.body.revision,
            settlement.transfer == (movesMoney ? transfer : nil)
        else { return "the figures of its settlement do not follow from its entries and scores" }
        return nil
    }
}

extension Record {
    /// Returns the message for a record that cannot be read, or would be written differently.
    fileprivate func unreadableMessage(_ thing: String) -> String {
        "\(thing) \(id) cannot be read, or differs from what the server writes"
    }
}

extension Answer {
    /// Returns true if it is the answer to the payment of the desk's share that bought the entry.
    fileprivate func isPayment(of entry: ContestEntry, _ stake: Transfer) -> Bool {
        guard key.command == Pay.name, let paid = payment, paid.tip == nil else { return false }
        let balance = stake.entries.first { $0.account.owner == .user(entry.user) }?.balance
        return paid.share == entry.body.share && paid.transfer == stake.key.id
            && paid.newBalance == balance
    }
}

extension Transfer {
    fileprivate var legs: [Account.Key: Int64] {
        Dictionary(uniqueKeysWithValues: entries.map { ($0.account, $0.amount) })
    }
}
