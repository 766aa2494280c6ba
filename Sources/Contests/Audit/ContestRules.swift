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
        rule: "every contest's pot is what its entries say, and was paid out once (contests)",
        readsChildren: true
    ) { record, file in
        guard let contest = try? Contest(record) else {
            return "contest \(record.id) cannot be read"
        }
        return contest.broken(record, file).map { "contest \(record.id): \($0)" }
    }

    private static let entry = RecordRule(
        kind: ContestEntry.kind,
        rule: "every user has one entry in a contest (contest entries)"
    ) { record, file in
        guard let entry = try? ContestEntry(record), entry.record == record else {
            return "entry \(record.id) cannot be read"
        }
        let name = Name(ContestID.entryName(entry.contest, entry.user), target: record.id.rawValue)
        return entry.isIn && !file.names.contains(name)
            ? "entry \(record.id) is not the one that its user's name stands for" : nil
    }

    private static let scores = RecordRule(
        kind: ScoreRevision.kind,
        rule: "every score revision can be read (contest scores)"
    ) { record, _ in
        (try? ScoreRevision(record))?.record == record
            ? nil : "score revision \(record.id) cannot be read"
    }

    private static let objection = RecordRule(
        kind: Objection.kind,
        rule: "every objection can be read (contest objections)"
    ) { record, _ in
        (try? Objection(record))?.record == record
            ? nil : "objection \(record.id) cannot be read"
    }

    private static let declaration = RecordRule(
        kind: Declaration.kind,
        rule: "every declaration of a result can be read (contest declarations)"
    ) { record, _ in
        (try? Declaration(record))?.record == record
            ? nil : "declaration \(record.id) cannot be read"
    }

    private static let template = RecordRule(
        kind: ContestTemplate.kind,
        rule: "every template can be read (contest templates)"
    ) { record, _ in
        (try? ContestTemplate(record)) == nil ? "template \(record.id) cannot be read" : nil
    }

    private static let image = RecordRule(
        kind: TemplateImage.kind,
        rule: "every image of a template is the one of its name (contest images)"
    ) { record, _ in
        (try? TemplateImage(record)) == nil ? "image \(record.id) cannot be read" : nil
    }
}

extension RecordRule {
    private static let index = RecordRule(
        kind: ContestIndex.kind,
        rule: "the index of public contests can be read (contest index)"
    ) { record, _ in
        (try? ContestIndex(record)) == nil ? "the index \(record.id) cannot be read" : nil
    }

    private static let stop = RecordRule(
        kind: ContestStop.kind,
        rule: "every trace of a stopped contest can be read (contest stops)"
    ) { record, _ in
        (try? ContestStop(record)) == nil ? "the stop \(record.id) cannot be read" : nil
    }
}

extension Contest {
    /// Returns the reason why the ledger's rows contradict the contest; `nil` if they do not.
    fileprivate func broken(_ record: Record, _ file: RecordFile) -> String? {
        if self.record != record { return "its columns do not agree" }
        var entries: [ContestEntry] = []
        var revisions: [ScoreRevision] = []
        var objections: Int64 = 0
        var declarations: Int64 = 0
        for (number, child) in file.children {
            if let entry = try? ContestEntry(child), entry.contest == id {
                entries.append(entry)
                guard entry.number == number else { return "entry \(number) has another number" }
            } else if let scores = try? ScoreRevision(child), scores.body.contest == id {
                revisions.append(scores)
            } else if child.kind == Objection.kind {
                objections += 1
            } else if child.kind == Declaration.kind {
                declarations += 1
            } else {
                return "\(child.id) is none of its children"
            }
        }
        guard entries.map(\.number) == Array(1..<body.entryNumber + 1),
            revisions.map(\.body.revision) == Array(1..<body.revision + 1),
            objections == body.objections, declarations == body.declarations
        else { return "its entries, scores, objections or declarations have gaps" }
        let present = entries.filter(\.isIn)
        guard Int64(present.count) == body.entryCount,
            Set(present.map(\.user)).count == present.count
        else { return "\(present.count) entries are in, it says \(body.entryCount)" }
        return brokenTransfers(file.transfers, entries) ?? brokenAnswers(file, entries)
            ?? brokenEnd(file, present, revisions)
    }

    /// Checks the amounts paid into the pot, and those refunded before the end.
    private func brokenTransfers(
        _ transfers: [Transfer],
        _ entries: [ContestEntry]
    ) -> String? {
        var expected: [String: [Account.Key: Int64]] = [:]
        for entry in entries where entry.body.fee > 0 {
            let (user, fee) = (account(of: entry.user), entry.body.fee)
            guard fee == terms.fee else { return "entry \(entry.number) paid another fee" }
            expected["in/\(entry.number)"] = [user: -fee, pot: fee]
            if !entry.isIn { expected["out/\(entry.number)"] = [pot: -fee, user: fee] }
        }
        if paidPrize > 0 {
            expected["prize"] = [account(of: organizer): -paidPrize, pot: paidPrize]
        }
        for transfer in transfers where transfer.key.step != Self.endStep {
            guard let legs = expected.removeValue(forKey: transfer.key.step) else {
                return "no entry says transfer \(transfer.key.step)"
            }
            guard transfer.legs == legs else { return "transfer \(transfer.key.step) is another" }
        }
        return expected.keys.min().map { "transfer \($0) is missing" }
    }

    /// Checks that each fee has the answer stored under its payer's key: for a desk, the payment of
    /// the entry's share.
    private func brokenAnswers(_ file: RecordFile, _ entries: [ContestEntry]) -> String? {
        var answers: [String: Answer] = [:]
        for answer in file.answers {
            if let step = answer.transfer?.step { answers[step] = answer }
        }
        let stakes = Dictionary(uniqueKeysWithValues: file.transfers.map { ($0.key.step, $0) })
        for entry in entries where entry.body.fee > 0 {
            let step = "in/\(entry.number)"
            guard let stake = stakes[step], let answer = answers[step],
                answer.key.user == entry.user,
                entry.body.share == nil
                    ? answer.key.command == JoinContest.name : answer.isPayment(of: entry, stake)
            else { return "transfer \(step) is not what its key was answered with" }
        }
        return nil
    }

    /// Checks the end of the contest: recomputes a settlement from its rows.
    private func brokenEnd(
        _ file: RecordFile,
        _ entries: [ContestEntry],
        _ revisions: [ScoreRevision]
    ) -> String? {
        let end = file.transfers.first { $0.key.step == Self.endStep }
        var legs: [(account: Account.Key, amount: Int64)] = []
        var kind = TransferKind.prize
        switch state {
        case .draft, .open, .locked, .live, .complete: break
        case .error: return "its pot is not what its entries say: gotchu-server contests recheck"
        case .cancelled:
            legs = refunds(to: entries)
            kind = .returned
        case .settled:
            let plan = SettlementPlan(terms, entries: entries, revisions: revisions)
            if let violation = plan.violation(of: self) { return violation }
            legs = plan.legs(of: self)
        }
        guard let end else { return legs.isEmpty ? nil : "nothing was paid at its end" }
        let expected = Dictionary(uniqueKeysWithValues: legs.map { ($0.account, $0.amount) })
        return end.legs == expected && end.kind == kind.name
            ? nil : "what was paid at its end is not what its rows say"
    }
}

extension SettlementPlan {
    /// Returns the reason why a contest's settlement differs from this plan; `nil` if it does not.
    package func violation(of contest: Contest) -> String? {
        guard let settlement = contest.body.settlement else { return "it was not settled" }
        guard settlement.inputsHash == inputsHash else {
            return "it was settled from other terms, entries or scores"
        }
        let hasMoved = !legs(of: contest).isEmpty
        let transfer = Transfer.Key(contest.id, Contest.endStep).id
        guard settlement.resultHash == resultHash, settlement.pool == division.pool,
            settlement.rake == division.rake, settlement.commission == division.commission,
            settlement.revision == contest.body.revision,
            settlement.transfer == (hasMoved ? transfer : nil)
        else { return "its settlement says other figures than its rows" }
        return nil
    }
}

extension Answer {
    /// Returns true if it is the payment of the desk share that bought an entry.
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
