package import GotchuCore
package import Ledger
package import Payments

/// A session at which several payers enter a contest, each by paying the fee.
///
/// Locking a share reserves a place in the contest for the payer; the payment moves the fee into
/// the contest's pot and writes the entry in one step.
package struct Desk: GroupPurpose {
    package static let name = "entry"
    /// The allowed lifetimes, in seconds. A desk ends when its contest locks, if not before.
    package static let allowedSeconds = 1...43_200
    /// The maximum number of payers who hold a place at one desk at the same time.
    static let slots: Int64 = 50

    package init() {}

    package func touch(
        _ footprint: inout Footprint,
        for group: Group,
        by payer: UserID,
        knowing rows: Snapshot,
        isPaying: Bool
    ) {
        guard let contest = group.sale?.record else { return }
        footprint.records.insert(contest)
        footprint.users.insert(payer)
        footprint.names.formUnion(ContestID.names(forEntryOf: payer, in: contest))
        if isPaying { footprint.owners.insert(.pot(contest)) }
    }

    package func closedReason(
        of group: Group,
        on books: Books,
        at time: Timestamp
    ) throws(Refusal) -> Refusal.Reason? {
        try books.contest(of: group, at: time).lockedReason
    }

    package func choose(
        for request: PlaceRequest,
        in group: Group,
        on books: Books,
        at time: Timestamp
    ) throws(Refusal) -> Int64 {
        let contest = try books.contest(of: group, at: time)
        try books.requirePlace(
            for: request.payer,
            in: contest,
            expecting: request.expectedAmount,
            at: time
        )
        let held = contest.body.holds.count { $0.isAlive(at: time) }
        guard held < Contest.holdLimit, let first = group.freePlaces.first else {
            throw Refusal(.sessionBusy)
        }
        guard let place = request.place else { return first }
        guard group.freePlaces.contains(place) else { throw Refusal(.shareTaken) }
        return place
    }

    package func hold(
        _ share: SessionID,
        of group: Group,
        by payer: UserID,
        until: Timestamp,
        on books: inout Books,
        at time: Timestamp
    ) throws(Refusal) {
        let contest = try books.contest(of: group, at: time)
        let hold = Contest.Hold(share: share, user: payer, until: until.milliseconds)
        books.put(contest.changed(at: time) { $0.body.holds.append(hold) }, at: time)
    }

    package func release(
        _ share: SessionID,
        of group: Group,
        on books: inout Books,
        at time: Timestamp
    ) throws(Refusal) {
        let contest = try books.contest(of: group, at: time)
        guard contest.body.holds.contains(where: { $0.share == share }) else { return }
        let free = contest.changed(at: time) { $0.body.holds.removeAll { $0.share == share } }
        books.put(free, at: time)
    }

    package func pay(
        _ share: Session,
        by payer: UserID,
        of paid: Group,
        on books: inout Books,
        at time: Timestamp
    ) throws(Refusal) -> Transfer {
        let contest = try books.contest(of: paid, at: time)
        let fee = share.amount.minorUnits
        try books.requirePlace(for: payer, in: contest, expecting: fee, at: time)
        let entry = ContestID.entry(boughtBy: share.id, at: time)
        let stake = try books.enter(payer, as: entry, in: contest, paidBy: share.id, at: time)
        guard let stake else { throw Refusal(.unreadable) }
        return stake
    }
}

/// Opens a desk for an organiser's contest.
package struct OpenDesk: LedgerCommand {
    package static let name = "open-desk"

    private let contest: RecordID
    private let group: CreateGroup

    /// - Precondition: The contest has a fee: a free one is entered without a payment.
    package init(
        of contest: Contest,
        by organizer: UserID,
        memo: String?,
        reference: String?,
        lifetime: Duration,
        liveLimit: Int
    ) {
        let terms = contest.terms
        precondition(terms.fee > 0)
        self.contest = contest.id
        group = CreateGroup(
            purpose: Desk.name,
            payee: organizer,
            currency: terms.currency,
            shares: Array(repeating: terms.fee, count: Int(min(Desk.slots, terms.maxEntries))),
            isAllOrNothing: false,
            sale: Group.Sale(
                record: contest.id,
                title: terms.title,
                places: terms.maxEntries
            ),
            memo: memo,
            reference: reference,
            lifetime: lifetime,
            endsBy: terms.lockTime,
            liveLimit: liveLimit
        )
    }

    package var spender: UserID? { group.spender }

    package func touch(_ footprint: inout Footprint, knowing rows: Snapshot?) {
        footprint.records.insert(contest)
        footprint.touchDesks(of: contest, knowing: rows)
        group.touch(&footprint, knowing: rows)
    }

    package func decide(
        on books: inout Books,
        at time: Timestamp
    ) throws(Refusal) -> CreatedSession {
        let contest = try books.contest(contest, of: group.payee, at: time)
        if let reason = contest.lockedReason { throw Refusal(reason) }
        let desks = contest.body.desks.filter { books.isOpen($0, at: time) }
        guard desks.count < Contest.deskLimit else { throw Refusal(.tooManyLiveSessions) }
        let created = try group.decide(on: &books, at: time)
        let opened = desks + [created.session.id]
        books.put(contest.changed(at: time) { $0.body.desks = opened }, at: time)
        return created
    }
}

extension Footprint {
    /// Adds the desks of a contest, once its record is loaded.
    mutating func touchDesks(of contest: RecordID, knowing rows: Snapshot?) {
        guard let rows else { return needsAnotherRound = true }
        guard let record = rows.records[contest], record.kind == Contest.kind,
            let known = try? Contest(record)
        else { return }
        records.formUnion(known.body.desks.map(RecordID.init))
    }
}

extension Books {
    /// Ends the desks of a contest that accepts no more entries; they are no longer advertised.
    mutating func closeDesks(of contest: Contest, at time: Timestamp) {
        for desk in contest.body.desks { close(desk, at: time) }
    }

    /// Returns the contest that a desk belongs to, as it is at `time`.
    ///
    /// - Throws: The errors of `contest(_:at:)`; `unreadable` if the desk has no contest.
    fileprivate func contest(of desk: Group, at time: Timestamp) throws(Refusal) -> Contest {
        guard let contest = desk.sale?.record else { throw Refusal(.unreadable) }
        return try self.contest(contest, at: time)
    }
}
