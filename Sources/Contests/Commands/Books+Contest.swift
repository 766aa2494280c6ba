internal import GotchuCore
package import Ledger
internal import Payments

extension Books {
    /// Returns a contest as it is at `time`.
    ///
    /// - Throws: `unreadable`, and `unknownContest`.
    func contest(_ id: RecordID, at time: Timestamp) throws(Refusal) -> Contest {
        guard let record = rows.records[id], record.kind == Contest.kind else {
            throw Refusal(.unknownContest)
        }
        return try readable { () throws(LedgerError) in try Contest(record) }.asOf(time)
    }

    /// Returns a contest as it is at `time`.
    ///
    /// - Throws: The errors of `contest(_:at:)`; `unknownContest` also for another user's draft.
    func contest(
        _ id: RecordID,
        for user: UserID,
        at time: Timestamp
    ) throws(Refusal) -> Contest {
        let contest = try contest(id, at: time)
        guard !contest.isHidden(from: user) else { throw Refusal(.unknownContest) }
        return contest
    }

    /// Returns a contest as it is at `time`. It must belong to `organizer`, unless that is `nil`.
    ///
    /// - Throws: The errors of `contest(_:for:at:)`, and `notOrganizer`.
    func contest(
        _ id: RecordID,
        of organizer: UserID?,
        at time: Timestamp
    ) throws(Refusal) -> Contest {
        guard let organizer else { return try contest(id, at: time) }
        let contest = try contest(id, for: organizer, at: time)
        guard organizer == contest.organizer else { throw Refusal(.notOrganizer) }
        return contest
    }

    /// Returns the current entry of a user.
    ///
    /// - Throws: `notJoined`, and `unreadable`.
    func entry(
        of user: UserID,
        in contest: Contest,
        at time: Timestamp
    ) throws(Refusal) -> ContestEntry {
        guard let name = rows.names[ContestID.entryName(contest.id, user)], name.isAlive(at: time),
            let record = rows.records[RecordID(trusted: name.target)]
        else { throw Refusal(.notJoined) }
        let entry = try readable { () throws(LedgerError) in try ContestEntry(record) }
        // Another server, whose clock is ahead, may already have removed the user.
        guard entry.isCurrent else { throw Refusal(.notJoined) }
        return entry
    }

    /// Returns the current entries in the order of their numbers, and all score revisions.
    ///
    /// - Throws: `contestState` if the children were not loaded, because another command of the
    ///   batch has changed the contest. And `unreadable`.
    func children(
        of contest: Contest
    ) throws(Refusal) -> (entries: [ContestEntry], revisions: [ScoreRevision]) {
        let numbers = rows.children[contest.id] ?? [:]
        guard !numbers.isEmpty || contest.body.entryNumber + contest.body.revision == 0 else {
            throw Refusal(.contestState)
        }
        let records = numbers.sorted { $0.key < $1.key }.compactMap { rows.records[$0.value] }
        return try readable { () throws(LedgerError) in try ContestChildren.read(records) }
    }

    /// Writes a contest's next version, and an event if it has just been settled or cancelled.
    mutating func put(_ contest: Contest, at time: Timestamp) {
        let record = contest.record
        let isNewState = record.state != rows.records[record.id]?.state
        let kind = isNewState ? contest.eventKind : nil
        let event = kind.map { kind in
            Event(
                kind: kind.rawValue,
                record: record,
                at: time,
                lateness: contest.settlement?.delay
            )
        }
        put(record, event: event)
    }

    /// Adds a child record of a contest's declaration or dispute, and writes the contest's next
    /// version; returns that version.
    mutating func addDeclaration(to contest: Contest, at time: Timestamp) -> Contest {
        var next = contest
        next.body.declarations += 1
        let declaration = Declaration(
            organizer: contest.organizer,
            madeAt: time,
            body: Declaration.Body(
                contest: contest.id,
                number: next.body.declarations,
                revision: contest.body.revision,
                dispute: contest.body.dispute
            )
        )
        add(
            child: declaration.record,
            of: contest.id,
            number: ContestChild.declarationBase + next.body.declarations
        )
        put(next, at: time)
        return next
    }

    /// Puts a contest into the state `error`, because its pot differs from its entries.
    mutating func stop(_ contest: Contest, at time: Timestamp) -> Contest {
        let stopped = contest.changed(at: time) {
            $0.body.stateBeforeError = $0.state.rawValue
            $0.state = .error
        }
        closeDesks(of: contest, at: time)
        put(stopped, at: time)
        put(ContestStop.record(of: stopped, at: time))
        return stopped
    }

    /// Returns a contest's children after checking that its pot and number of entries match its
    /// record.
    ///
    /// - Throws: The errors of `children(of:)`, and `potUnequal`.
    func checkedChildren(
        of contest: Contest
    ) throws(Refusal) -> (entries: [ContestEntry], revisions: [ScoreRevision]) {
        let (entries, revisions) = try children(of: contest)
        guard hasExpectedPot(contest), Int64(entries.count) == contest.body.entryCount else {
            throw Refusal(.potUnequal)
        }
        return (entries, revisions)
    }

    /// Returns true if the pot's balance equals the contest's expected amount.
    func hasExpectedPot(_ contest: Contest) -> Bool {
        (rows.accounts[contest.pot]?.balance ?? 0) == contest.expectedPot
    }

    private func readable<Value>(
        _ read: () throws(LedgerError) -> Value
    ) throws(Refusal) -> Value {
        do { return try read() } catch { throw Refusal(.unreadable) }
    }
}

extension Snapshot {
    /// Returns a contest as loaded; `nil` if it is missing, unreadable or another organiser's.
    ///
    /// - Parameter organizer: `nil` for the server's operator.
    func contest(_ id: RecordID, of organizer: UserID?) -> Contest? {
        guard let record = records[id], record.kind == Contest.kind,
            organizer.map({ $0 == record.owner }) ?? true
        else { return nil }
        return try? Contest(record)
    }
}

/// A reader of the current entries and the score revisions among a contest's children.
package enum ContestChildren {
    /// - Parameter records: In the order of their numbers.
    /// - Throws: `LedgerError` with `corrupt`.
    package static func read(
        _ records: [Record]
    ) throws(LedgerError) -> (entries: [ContestEntry], revisions: [ScoreRevision]) {
        var entries: [ContestEntry] = []
        var revisions: [ScoreRevision] = []
        for record in records {
            switch record.kind {
            case ContestEntry.kind:
                let entry = try ContestEntry(record)
                if entry.isCurrent { entries.append(entry) }
            case ScoreRevision.kind: revisions.append(try ScoreRevision(record))
            default: break
            }
        }
        return (entries, revisions)
    }
}

extension Contest {
    /// The kinds of events that are delivered to endpoints. The raw values are stored and sent.
    package enum EventKind: String, CaseIterable, Sendable {
        case settled = "contest.settled"
        case cancelled = "contest.cancelled"
    }

    fileprivate var eventKind: EventKind? {
        switch state {
        case .settled: .settled
        case .cancelled: .cancelled
        case .draft, .open, .locked, .live, .complete, .error: nil
        }
    }
}
