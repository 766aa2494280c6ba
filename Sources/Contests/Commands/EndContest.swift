package import GotchuCore
package import Ledger
internal import Payments

/// Pays the prizes of a completed contest: one transfer, in one commit with its record.
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
        // If the contest cannot be settled, only its record is read.
        if let known = rows?.contest(contest, of: organizer), !known.isDeclared {
            footprint.records.insert(contest)
        } else {
            footprint.touchEnd(of: contest, for: organizer, knowing: rows)
        }
    }

    package func decide(on books: inout Books, at time: Timestamp) throws(Refusal) -> RecordID {
        let contest = try books.contest(contest, of: organizer, at: time)
        if let reason = contest.settleRefusal(at: time) { throw Refusal(reason) }
        try books.settle(contest, at: time)
        return contest.id
    }
}

/// Cancels a contest and refunds all stakes in one commit.
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
        footprint.touchEnd(of: contest, for: organizer, knowing: rows)
    }

    package func decide(on books: inout Books, at time: Timestamp) throws(Refusal) -> RecordID {
        let contest = try books.contest(contest, of: organizer, at: time)
        if let reason = contest.cancelRefusal { throw Refusal(reason) }
        try books.cancel(contest, by: organizer == nil ? .operator : .organizer, reason, at: time)
        return contest.id
    }
}

/// Records the changes due to time: lock, start, settlement, and the refund of a contest that
/// nobody completed. Stops a contest whose pot differs from its entries.
package struct SweepContest: LedgerCommand {
    package static let name = "sweep-contest"
    package static let kind = RecordKind(Contest.kind) { SweepContest(contest: $0) }
    private let contest: RecordID
    private let isChecking: Bool

    /// - Parameter isChecking: True to check the pot even if nothing is due.
    package init(contest: RecordID, isChecking: Bool = false) {
        self.contest = contest
        self.isChecking = isChecking
    }

    package func touch(_ footprint: inout Footprint, knowing rows: Snapshot?) {
        if let state = rows?.records[contest]?.state, !isChecking,
            [Contest.State.open, .locked].map(\.rawValue).contains(state)
        {
            footprint.records.insert(contest)
        } else {
            footprint.touchEnd(of: contest, for: nil, knowing: rows)
        }
    }

    package func decide(on books: inout Books, at time: Timestamp) throws(Refusal) -> Contest {
        let version = books.rows.records[contest]?.version
        let contest = try books.contest(contest, at: time)
        let isRead = books.rows.children[contest.id] != nil && !contest.isOver
        do throws(Refusal) {
            if isRead, isChecking { _ = try books.checkedChildren(of: contest) }
            if contest.version != version {
                // One step per sweep: if the end is due too, the next sweep does it.
                books.put(contest, at: time)
            } else if isRead {
                if let settlesAt = contest.settlesAt {
                    return time < settlesAt ? contest : try books.settle(contest, at: time)
                }
                if time >= contest.abandonedAt, contest.cancelRefusal == nil {
                    return try books.cancel(contest, by: .time, nil, at: time)
                }
            }
            return contest
        } catch {
            guard error.reason == .potUnequal, contest.state != .error else { throw error }
            return books.stop(contest, at: time)
        }
    }
}

/// Checks a stopped contest's pot again, for the server's operator.
package struct RecheckContest: LedgerCommand {
    package static let name = "recheck-contest"

    private let contest: RecordID

    package init(contest: RecordID) {
        self.contest = contest
    }

    package func touch(_ footprint: inout Footprint, knowing rows: Snapshot?) {
        footprint.records.insert(contest)
        footprint.owners.insert(.pot(contest))
        footprint.children.insert(contest)
    }

    package func decide(on books: inout Books, at time: Timestamp) throws(Refusal) -> Contest {
        let contest = try books.contest(contest, at: time)
        guard contest.state == .error,
            let state = contest.body.stateBeforeError.flatMap(Contest.State.init(rawValue:)),
            (try? books.checkedChildren(of: contest)) != nil
        else { return contest }
        let sound = contest.changed(at: time) {
            $0.state = state
            $0.body.stateBeforeError = nil
            // Nobody could object or act in the state `error`: those periods start again.
            $0.body.actedAt = time.milliseconds
            if state == .complete { $0.body.completedAt = time.milliseconds }
        }
        books.put(sound, at: time)
        return sound
    }
}

extension Footprint {
    /// Adds a contest with all of its entries and scores, then the accounts that receive money.
    ///
    /// - Parameter organizer: The caller; the entries and scores are added only for the contest's
    ///   organiser. `nil` for the server.
    fileprivate mutating func touchEnd(
        of contest: RecordID,
        for organizer: UserID?,
        knowing rows: Snapshot?
    ) {
        records.insert(contest)
        guard let rows else { return needsAnotherRound = true }
        guard let known = rows.contest(contest, of: organizer), !known.isOver,
            known.state != .error
        else { return }
        records.formUnion(known.body.desks.map(RecordID.init))
        children.insert(contest)
        guard let numbers = rows.children[contest] else { return needsAnotherRound = true }
        let host = known.organizer
        owners.formUnion([.pot(contest), .user(host), .houseOf(.take, host)])
        for child in numbers.values.lazy.compactMap({ rows.records[$0] })
        where ContestEntry.isCurrent(child) {
            owners.insert(.user(child.owner))
        }
    }
}

extension Books {
    /// Settles a contest.
    ///
    /// - Throws: `potUnequal`, `noScores`, or `balanceTooLarge`.
    @discardableResult
    fileprivate mutating func settle(
        _ contest: Contest,
        at time: Timestamp
    ) throws(Refusal) -> Contest {
        guard contest.state != .settled else { return contest }
        let (entries, revisions) = try checkedChildren(of: contest)
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

    /// Cancels a contest.
    ///
    /// - Throws: `potUnequal`, or `balanceTooLarge`.
    @discardableResult
    fileprivate mutating func cancel(
        _ contest: Contest,
        by source: Contest.Cancellation.Source,
        _ reason: String?,
        at time: Timestamp
    ) throws(Refusal) -> Contest {
        guard contest.state != .cancelled else { return contest }
        let legs = contest.refunds(to: try checkedChildren(of: contest).entries)
        if !legs.isEmpty {
            try post(.returned, legs, record: contest.id, step: Contest.endStep, at: time)
        }
        let cancelled = contest.changed(at: time) {
            $0.state = .cancelled
            $0.body.cancellation = Contest.Cancellation(source, reason, at: time)
        }
        closeDesks(of: contest, at: time)
        put(cancelled, at: time)
        return cancelled
    }
}

extension Contest {
    static let endStep = "end"

    /// Returns the amounts that refund the pot's money.
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
