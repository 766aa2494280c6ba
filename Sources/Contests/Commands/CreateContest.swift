package import GotchuCore
package import Ledger
internal import Payments

/// Creates a draft. Its terms never change.
package struct CreateContest: RecordCommand {
    package static let name = "create-contest"
    /// The maximum number of an organiser's contests with an automatic change still to come.
    static let liveLimit = 1000

    package let id: RecordID
    package let organizer: UserID
    package let terms: ContestTerms
    /// The invitation to a private contest; `nil` for a public one.
    package let invitation: String?

    /// - Precondition: The terms have no violation.
    package init(
        id: RecordID = .make(),
        organizer: UserID,
        terms: ContestTerms,
        invitation: String?
    ) {
        precondition(terms.violation == nil)
        self.id = id
        self.organizer = organizer
        self.terms = terms
        self.invitation = invitation
    }

    package var record: RecordID { id }
    private var group: RecordGroup { RecordGroup(owner: organizer, kind: Contest.kind) }

    package var spender: UserID? { organizer }

    package func touch(_ footprint: inout Footprint, knowing rows: Snapshot?) {
        footprint.owners.insert(.user(organizer))
        footprint.users.insert(organizer)
        footprint.dueGroups.insert(group)
    }

    package func decide(on books: inout Books, at time: Timestamp) throws(Refusal) -> RecordID {
        guard let known = books.rows.users[organizer] else { throw Refusal(.unknownUser) }
        guard books.rows.accounts[Account.Key(.user(organizer), terms.currency)] != nil else {
            throw Refusal(.noWalletInCurrency)
        }
        guard books.rows.dueCounts[group, default: 0] < Self.liveLimit else {
            throw Refusal(.tooManyContests)
        }
        guard terms.lockTime > time,
            terms.lastTime <= time.advanced(by: ContestTerms.maximumLeadTime)
        else { throw Refusal(.contestDates) }
        let contest = Contest(
            id: id,
            organizer: organizer,
            createdAt: time,
            state: .draft,
            version: 1,
            body: Contest.Body(
                terms: terms,
                organizerName: known.displayName,
                updatedAt: time.milliseconds,
                invitation: terms.isInviteOnly ? invitation : nil
            )
        )
        books.put(contest, at: time)
        return id
    }
}

/// Opens a draft to entrants, and moves the added prize into its pot.
package struct PublishContest: RecordCommand {
    package static let name = "publish-contest"

    package let contest: RecordID
    package let organizer: UserID

    package init(contest: RecordID, organizer: UserID) {
        self.contest = contest
        self.organizer = organizer
    }

    package var record: RecordID { contest }

    package func touch(_ footprint: inout Footprint, knowing rows: Snapshot?) {
        footprint.records.formUnion([contest, ContestIndex.id])
        footprint.owners.formUnion([.user(organizer), .pot(contest)])
    }

    package func decide(on books: inout Books, at time: Timestamp) throws(Refusal) -> RecordID {
        let contest = try books.contest(contest, of: organizer, at: time)
        guard contest.state == .draft, !contest.body.isDeleted, time < contest.terms.lockTime else {
            throw Refusal(.contestState)
        }
        let index = try books.contestIndex
        let prize = contest.terms.addedPrize
        if prize > 0 {
            try books.post(
                .stake,
                [(contest.account(of: organizer), -prize), (contest.pot, prize)],
                record: contest.id,
                step: "prize",
                at: time
            )
        }
        let number = books.list(contest, in: index, at: time)
        let open = contest.changed(at: time) {
            $0.state = .open
            $0.body.publishedAt = time.milliseconds
            $0.body.listNumber = number
        }
        books.put(open, at: time)
        return contest.id
    }
}

/// Changes a contest without moving money: locks it before its time, disputes its result, hides a
/// draft or a contest that is over, or renews its invitation.
package struct ChangeContest: LedgerCommand {
    package static let name = "change-contest"

    package enum Change: Equatable, Sendable {
        case lock
        /// Blocks the settlement until a result is declared again.
        case dispute(reason: String)
        case renewInvitation(String)
        case delete
    }

    package let contest: RecordID
    package let organizer: UserID
    package let change: Change

    package init(_ change: Change, contest: RecordID, organizer: UserID) {
        self.contest = contest
        self.organizer = organizer
        self.change = change
    }

    package var spender: UserID? { organizer }

    package func touch(_ footprint: inout Footprint, knowing rows: Snapshot?) {
        footprint.records.insert(contest)
        if change == .lock { footprint.touchDesks(of: contest, knowing: rows) }
    }

    package func decide(on books: inout Books, at time: Timestamp) throws(Refusal) -> Contest {
        let contest = try books.contest(contest, of: organizer, at: time)
        let next: Contest
        switch change {
        case .lock:
            guard contest.state != .locked else { return contest }
            guard contest.state == .open else { throw Refusal(.contestState) }
            books.closeDesks(of: contest, at: time)
            next = contest.changed(to: .locked, at: time)
        case .dispute(let reason):
            guard contest.state == .complete,
                contest.body.declarations < Contest.declarationLimit
            else { throw Refusal(.contestState) }
            guard contest.body.dispute != reason else { return contest }
            let disputed = contest.changed(at: time) { $0.body.dispute = reason }
            return books.addDeclaration(to: disputed, at: time)
        case .renewInvitation(let invitation):
            guard contest.terms.isInviteOnly, [.draft, .open].contains(contest.state) else {
                throw Refusal(.contestState)
            }
            next = contest.changed(at: time) { $0.body.invitation = invitation }
        case .delete:
            guard contest.isOver || contest.state == .draft else { throw Refusal(.contestState) }
            guard !contest.body.isDeleted else { return contest }
            next = contest.changed(at: time) { $0.body.isDeleted = true }
        }
        books.put(next, at: time)
        return next
    }
}
