package import GotchuCore
package import Ledger
internal import Payments

/// Pays the prizes of a complete contest: one transfer, in one commit with its record.
package struct SettleContest: RecordCommand {
    package static let name = "settle-contest"

    package let contest: RecordID
    package let organizer: UserID

    package init(contest: RecordID, organizer: UserID) {
        self.contest = contest
        self.organizer = organizer
    }

    package var record: RecordID { contest }

    package func touch(_ footprint: inout Footprint, knowing rows: Snapshot?) {
        footprint.touchEnd(of: contest, knowing: rows)
    }

    package func decide(on books: inout Books, at time: Timestamp) throws(Refusal) -> RecordID {
        let contest = try books.contest(contest, of: organizer, at: time)
        if let reason = contest.settleReason { throw Refusal(reason) }
        try books.settle(contest, at: time)
        return contest.id
    }
}

/// Cancels a contest: everybody's money goes back in one commit.
package struct CancelContest: RecordCommand {
    package static let name = "cancel-contest"

    package let contest: RecordID
    /// The organiser; `nil` for the server's operator.
    package let organizer: UserID?
    package let reason: String

    package init(contest: RecordID, organizer: UserID?, reason: String) {
        self.contest = contest
        self.organizer = organizer
        self.reason = reason
    }

    package var record: RecordID { contest }

    package func touch(_ footprint: inout Footprint, knowing rows: Snapshot?) {
        footprint.touchEnd(of: contest, knowing: rows)
    }

    package func decide(on books: inout Books, at time: Timestamp) throws(Refusal) -> RecordID {
        let contest = try books.contest(contest, of: organizer, at: time)
        if let reason = contest.cancelReason { throw Refusal(reason) }
        try books.cancel(contest, for: reason, at: time)
        return contest.id
    }
}

/// Writes down what time has changed of a contest: its lock, its start, its settlement, and the
/// refund of one that nobody completed.
package struct SweepContest: LedgerCommand {
    package static let name = "sweep-contest"
    package static let kind = RecordKind(Contest.kind) { SweepContest(contest: $0) }
    /// The stored reason of a contest that nobody completed.
    static let abandoned = "ABANDONED"

    private let contest: RecordID

    package init(contest: RecordID) {
        self.contest = contest
    }

    package func touch(_ footprint: inout Footprint, knowing rows: Snapshot?) {
        if let state = rows?.records[contest]?.state,
            [Contest.State.open, .locked].map(\.rawValue).contains(state)
        {
            footprint.records.insert(contest)
        } else {
            footprint.touchEnd(of: contest, knowing: rows)
        }
    }

    package func decide(on books: inout Books, at time: Timestamp) throws(Refusal) -> Contest {
        let version = books.rows.records[contest]?.version
        let contest = try books.contest(contest, at: time)
        if contest.version != version {
            // One step at a time: the next sweep ends it, if that is due too.
            books.put(contest, at: time)
        } else if books.rows.children[contest.id] != nil {
            if let settlesAt = contest.settlesAt, time >= settlesAt {
                return try books.settle(contest, at: time)
            }
            if time >= contest.abandonedAt, contest.cancelReason == nil, !contest.isOver {
                return try books.cancel(contest, for: Self.abandoned, at: time)
            }
        }
        return contest
    }
}

/// Looks again at a contest whose pot was not what its entries say; for the server's operator.
package struct RecheckContest: LedgerCommand {
    package static let name = "recheck-contest"

    private let contest: RecordID

    package init(contest: RecordID) {
        self.contest = contest
    }

    package func touch(_ footprint: inout Footprint, knowing rows: Snapshot?) {
        footprint.records.insert(contest)
        footprint.owners.insert(.pot(contest))
    }

    package func decide(on books: inout Books, at time: Timestamp) throws(Refusal) -> Contest {
        let contest = try books.contest(contest, at: time)
        guard contest.state == .error,
            let state = contest.body.soundState.flatMap(Contest.State.init(rawValue:)),
            books.isPotRight(contest)
        else { return contest }
        let sound = contest.changed(at: time) {
            $0.state = state
            $0.body.soundState = nil
        }
        books.put(sound, at: time)
        return sound
    }
}

extension Footprint {
    /// Adds a contest with all of its entries and scores, then the accounts of those who get money.
    fileprivate mutating func touchEnd(of contest: RecordID, knowing rows: Snapshot?) {
        records.insert(contest)
        guard let rows else { return asksAgain = true }
        guard let record = rows.records[contest], record.kind == Contest.kind,
            let known = try? Contest(record), !known.isOver
        else { return }
        records.formUnion(known.body.desks.map(RecordID.init))
        children.insert(contest)
        guard let numbers = rows.children[contest] else { return asksAgain = true }
        owners.formUnion([.pot(contest), .user(record.owner), .houseOf(.take, record.owner)])
        for child in numbers.values {
            guard let entry = rows.records[child], entry.kind == ContestEntry.kind else { continue }
            owners.insert(.user(entry.owner))
        }
    }
}

extension Books {
    /// Settles a contest, or stops it if its pot is not right.
    ///
    /// - Throws: `noScores`, and `balanceTooLarge`.
    @discardableResult
    fileprivate mutating func settle(
        _ contest: Contest,
        at time: Timestamp
    ) throws(Refusal) -> Contest {
        guard contest.state != .settled else { return contest }
        let (entries, revisions) = try children(of: contest)
        guard isPotRight(contest), Int64(entries.count) == contest.body.entryCount else {
            return stop(contest, at: time)
        }
        let plan = SettlementPlan(contest.terms, entries: entries, revisions: revisions)
        guard !plan.payouts.isEmpty else { throw Refusal(.noScores) }
        let legs = plan.legs(of: contest)
        let transfer =
            legs.isEmpty
            ? nil : try post(.prize, legs, record: contest.id, step: Contest.endStep, at: time)
        let settled = contest.changed(at: time) {
            $0.state = .settled
            $0.body.settlement = Settlement(
                revision: contest.body.revision,
                rules: contest.terms.rules,
                pool: plan.division.pool,
                rake: plan.division.rake,
                commission: plan.division.commission,
                inputsHash: plan.inputsHash,
                resultHash: plan.resultHash,
                transfer: transfer?.key.id,
                settledAt: time.milliseconds
            )
        }
        put(settled, at: time)
        return settled
    }

    /// Cancels a contest, or stops it if its pot is not right.
    ///
    /// - Throws: `balanceTooLarge`.
    @discardableResult
    fileprivate mutating func cancel(
        _ contest: Contest,
        for reason: String,
        at time: Timestamp
    ) throws(Refusal) -> Contest {
        guard contest.state != .cancelled else { return contest }
        let entries = try children(of: contest).entries
        guard isPotRight(contest), Int64(entries.count) == contest.body.entryCount else {
            return stop(contest, at: time)
        }
        let legs = contest.refunds(to: entries)
        if !legs.isEmpty {
            try post(.returned, legs, record: contest.id, step: Contest.endStep, at: time)
        }
        let cancelled = contest.changed(at: time) {
            $0.state = .cancelled
            $0.body.cancelReason = reason
        }
        closeDesks(of: contest, at: time)
        put(cancelled, at: time)
        return cancelled
    }
}

extension Contest {
    static let endStep = "end"

    /// The amounts by which the pot's money goes back.
    func refunds(to entries: [ContestEntry]) -> [(account: Account.Key, amount: Int64)] {
        var legs: [(account: Account.Key, amount: Int64)] = entries.map {
            (account(of: $0.user), $0.body.fee)
        }
        legs.append((account(of: organizer), paidPrize))
        legs = legs.filter { $0.amount > 0 }
        let sum = legs.reduce(0) { $0 + $1.amount }
        return sum == 0 ? [] : legs + [(pot, -sum)]
    }
}
