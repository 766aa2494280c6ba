package import GotchuCore
package import Ledger

/// Writes an organiser's scores as the revision after `base`.
package struct ScoreContest: LedgerCommand {
    package static let name = "score-contest"

    package let contest: RecordID
    package let organizer: UserID
    /// The newest revision that the organiser knew.
    package let base: Int64
    package let scores: [Score]

    /// - Precondition: The scores are valid, and at most as many as one revision may have.
    package init(contest: RecordID, organizer: UserID, base: Int64, scores: [Score]) {
        precondition(scores.count <= ScoreRevision.limit && scores.allSatisfy(\.isPossible))
        self.contest = contest
        self.organizer = organizer
        self.base = base
        self.scores = scores
    }

    private var next: RecordID { ContestID.scores(contest, revision: base + 1) }

    package var spender: UserID? { organizer }

    package func touch(_ footprint: inout Footprint, knowing rows: Snapshot?) {
        footprint.records.formUnion([contest, next])
    }

    package func decide(
        on books: inout Books,
        at time: Timestamp
    ) throws(Refusal) -> ScoreRevision {
        let contest = try books.contest(contest, of: organizer, at: time)
        if let record = books.rows.records[next] {
            // A resend of the same scores, whose answer was lost, gets the first answer.
            guard let known = try? ScoreRevision(record), known.body.scores == scores else {
                throw Refusal(.scoresChanged)
            }
            return known
        }
        guard contest.body.revision == base else { throw Refusal(.scoresChanged) }
        if let reason = contest.scoreRefusal { throw Refusal(reason) }
        guard base < ScoreRevision.countLimit else { throw Refusal(.tooManyScores) }
        let revision = ScoreRevision(
            organizer: organizer,
            scoredAt: time,
            body: ScoreRevision.Body(contest: contest.id, revision: base + 1, scores: scores)
        )
        let record = revision.record
        let bytes = contest.body.scoreBytes + Int64(record.body.utf8.count)
        guard bytes <= ScoreRevision.byteLimit(entries: contest.body.entryNumber) else {
            throw Refusal(.tooManyScores)
        }
        let number = ContestChild.scoreBase + base + 1
        books.add(child: record, of: contest.id, number: number)
        let scored = contest.changed(at: time) {
            $0.state = .live
            $0.body.revision = base + 1
            $0.body.scoreBytes = bytes
            $0.body.completedAt = nil
            $0.body.actedAt = time.milliseconds
            $0.body.dispute = nil
        }
        books.put(scored, at: time)
        return revision
    }
}

/// Declares the newest scores final and starts the time for objections.
package struct CompleteContest: LedgerCommand {
    package static let name = "complete-contest"

    package let contest: RecordID
    package let organizer: UserID
    /// The revision that the organiser saw.
    package let revision: Int64
    /// A Boolean that is true if an entry has a result at this revision. It is read before: entries
    /// never change once there are scores, and no revision ever does. The settlement does not rely
    /// on it.
    package let hasResult: Bool

    package init(contest: RecordID, organizer: UserID, revision: Int64, hasResult: Bool) {
        self.contest = contest
        self.organizer = organizer
        self.revision = revision
        self.hasResult = hasResult
    }

    package var spender: UserID? { organizer }

    package func touch(_ footprint: inout Footprint, knowing rows: Snapshot?) {
        footprint.records.insert(contest)
    }

    package func decide(on books: inout Books, at time: Timestamp) throws(Refusal) -> Contest {
        let contest = try books.contest(contest, of: organizer, at: time)
        if let reason = contest.completeRefusal(at: revision) { throw Refusal(reason) }
        guard !contest.isDeclared else { return contest }
        // A result declared again and again would keep the fees in the pot for ever.
        guard time < contest.abandonedAt else { throw Refusal(.contestState) }
        guard hasResult else { throw Refusal(.noScores) }
        let complete = contest.changed(at: time) {
            $0.state = .complete
            $0.body.completedAt = time.milliseconds
            $0.body.actedAt = time.milliseconds
            $0.body.dispute = nil
        }
        return books.addDeclaration(to: complete, at: time)
    }
}

/// Records an entrant's objection for the organiser: one per result. It does not stop the time
/// for objections.
package struct ObjectToContest: LedgerCommand {
    package static let name = "object-to-contest"

    package let contest: RecordID
    package let user: UserID
    /// The revision of the result that the entrant saw.
    package let revision: Int64
    package let text: String
    /// The id of the new objection.
    package let objection: RecordID

    package init(
        contest: RecordID,
        user: UserID,
        revision: Int64,
        text: String,
        objection: RecordID = .make()
    ) {
        self.contest = contest
        self.user = user
        self.revision = revision
        self.text = text
        self.objection = objection
    }

    package var spender: UserID? { user }

    package func touch(_ footprint: inout Footprint, knowing rows: Snapshot?) {
        footprint.names.insert(name)
        footprint.touchEntry(of: user, in: contest, knowing: rows)
    }

    private var name: String {
        ContestID.objectionName(contest, user, revision: revision)
    }

    package func decide(on books: inout Books, at time: Timestamp) throws(Refusal) -> Contest {
        let contest = try books.contest(contest, for: user, at: time)
        guard let entry = try? books.entry(of: user, in: contest, at: time) else {
            throw Refusal(.notEntrant)
        }
        guard contest.isOpenToObjections(at: time), contest.body.revision == revision,
            books.claim(name, for: objection.rawValue, until: nil, at: time)
        else { throw Refusal(.contestState) }
        let made = Objection(
            id: objection,
            user: user,
            madeAt: time,
            body: Objection.Body(
                contest: contest.id,
                revision: revision,
                entry: entry.number,
                name: entry.body.name,
                text: text
            )
        )
        let number = contest.body.objections + 1
        books.add(
            child: made.record,
            of: contest.id,
            number: ContestChild.objectionBase + number
        )
        let next = contest.changed(at: time) { $0.body.objections = number }
        books.put(next, at: time)
        return next
    }
}
