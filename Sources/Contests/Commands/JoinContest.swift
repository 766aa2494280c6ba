package import GotchuCore
package import Ledger
internal import Payments

/// Enters a user: moves the fee into the pot and writes the entry in one step.
package struct JoinContest: RecordCommand {
    package static let name = "join-contest"

    package let contest: RecordID
    package let user: UserID
    /// The id of the new entry.
    package let entry: RecordID
    /// The fee that the user saw, in minor units, if the client sent it.
    package let expectedFee: Int64?
    package let invitation: String?

    package init(
        contest: RecordID,
        user: UserID,
        entry: RecordID = .make(),
        expectedFee: Int64?,
        invitation: String?
    ) {
        self.contest = contest
        self.user = user
        self.entry = entry
        self.expectedFee = expectedFee
        self.invitation = invitation
    }

    package var record: RecordID { contest }

    package func touch(_ footprint: inout Footprint, knowing rows: Snapshot?) {
        footprint.records.insert(contest)
        footprint.users.insert(user)
        footprint.names.formUnion(ContestID.names(forEntryOf: user, in: contest))
        footprint.owners.formUnion([.user(user), .pot(contest)])
    }

    package func decide(on books: inout Books, at time: Timestamp) throws(Refusal) -> RecordID {
        guard books.rows.users[user] != nil else { throw Refusal(.unknownUser) }
        let contest = try books.contest(contest, for: user, at: time)
        guard contest.organizer != user else { throw Refusal(.ownContest) }
        guard contest.admits(invitation) else { throw Refusal(.joinTokenRequired) }
        try books.requirePlace(for: user, in: contest, expecting: expectedFee, at: time)
        try books.enter(user, as: entry, in: contest, paidBy: nil, at: time)
        return contest.id
    }
}

extension Books {
    /// Checks that a user may enter a contest now.
    ///
    /// - Parameter fee: The fee that the user saw, in minor units, if the client sent it.
    /// - Throws: The contest's `lockedReason`, `alreadyJoined`, `leftTooOften`, `amountChanged`, or
    ///   `contestFull`.
    func requirePlace(
        for user: UserID,
        in contest: Contest,
        expecting fee: Int64?,
        at time: Timestamp
    ) throws(Refusal) {
        if let reason = contest.lockedReason { throw Refusal(reason) }
        let name = ContestID.entryName(contest.id, user)
        guard rows.names[name].map({ !$0.isAlive(at: time) }) ?? true else {
            throw Refusal(.alreadyJoined)
        }
        guard rows.names[ContestID.leaveName(contest.id, user, Contest.leaveLimit)] == nil else {
            throw Refusal(.leftTooOften)
        }
        guard fee.map({ $0 == contest.terms.fee }) ?? true else { throw Refusal(.amountChanged) }
        guard contest.hasPlace(for: user, at: time) else { throw Refusal(.contestFull) }
    }

    /// Enters a user and moves the fee into the pot. Call `requirePlace` first.
    ///
    /// - Parameter share: The desk share that pays the fee; `nil` without a desk.
    /// - Returns: The transfer of the fee; `nil` if the contest is free.
    /// - Throws: `unknownUser` or an error of `post`; nothing has changed then.
    @discardableResult
    mutating func enter(
        _ user: UserID,
        as id: RecordID,
        in contest: Contest,
        paidBy share: SessionID?,
        at time: Timestamp
    ) throws(Refusal) -> Transfer? {
        guard let known = rows.users[user] else { throw Refusal(.unknownUser) }
        let fee = contest.terms.fee
        let number = contest.body.entryNumber + 1
        var stake: Transfer?
        if fee > 0 {
            stake = try post(
                .stake,
                [(contest.account(of: user), -fee), (contest.pot, fee)],
                record: contest.id,
                step: "in/\(number)",
                at: time
            )
        }
        let entry = ContestEntry(
            id: id,
            user: user,
            joinedAt: time,
            body: ContestEntry.Body(
                contest: contest.id,
                number: number,
                fee: fee,
                name: known.displayName,
                share: share
            )
        )
        add(child: entry.record, of: contest.id, number: number)
        let name = ContestID.entryName(contest.id, user)
        let isClaimed = claim(name, for: id.rawValue, until: nil, at: time)
        precondition(isClaimed, "call requirePlace first: the entry's name must be free")
        let next = contest.changed(at: time) {
            $0.body.entryCount += 1
            $0.body.entryNumber = number
            $0.body.holds.removeAll { $0.user == user }
        }
        put(next, at: time)
        return stake
    }
}

/// Removes a user before the lock and refunds the fee in the same step.
package struct LeaveContest: RecordCommand {
    package static let name = "leave-contest"

    package let contest: RecordID
    package let user: UserID

    package init(contest: RecordID, user: UserID) {
        self.contest = contest
        self.user = user
    }

    package var record: RecordID { contest }

    /// The unique names for leaving, numbered from 1 to the limit. Each leave claims the next one.
    private var leaveNames: [String] {
        (1...Contest.leaveLimit).map { ContestID.leaveName(contest, user, $0) }
    }

    package func touch(_ footprint: inout Footprint, knowing rows: Snapshot?) {
        footprint.touchEntry(of: user, in: contest, knowing: rows)
        footprint.names.formUnion(leaveNames)
        footprint.owners.formUnion([.user(user), .pot(contest)])
    }

    package func decide(on books: inout Books, at time: Timestamp) throws(Refusal) -> RecordID {
        let contest = try books.contest(contest, for: user, at: time)
        let entry = try books.entry(of: user, in: contest, at: time)
        if let reason = contest.lockedReason { throw Refusal(reason) }
        if entry.body.fee > 0 {
            try books.post(
                .returned,
                [(contest.pot, -entry.body.fee), (contest.account(of: user), entry.body.fee)],
                record: contest.id,
                step: "out/\(entry.number)",
                at: time
            )
        }
        books.put(entry.changed { $0.isCurrent = false }.record)
        books.release(ContestID.entryName(contest.id, user), at: time)
        if let next = leaveNames.first(where: { books.rows.names[$0] == nil }) {
            books.put(Name(next, target: entry.id.rawValue))
        }
        books.put(contest.changed(at: time) { $0.body.entryCount -= 1 }, at: time)
        return contest.id
    }
}

/// Replaces an entrant's roster, before the lock.
package struct EnterRoster: LedgerCommand {
    package static let name = "enter-roster"

    package let contest: RecordID
    package let user: UserID
    /// The ids of the players. They must satisfy the template's roster rule.
    package let roster: [String]

    package init(contest: RecordID, user: UserID, roster: [String]) {
        self.contest = contest
        self.user = user
        self.roster = roster
    }

    package func touch(_ footprint: inout Footprint, knowing rows: Snapshot?) {
        footprint.touchEntry(of: user, in: contest, knowing: rows)
    }

    package func decide(on books: inout Books, at time: Timestamp) throws(Refusal) -> ContestEntry {
        let contest = try books.contest(contest, for: user, at: time)
        let entry = try books.entry(of: user, in: contest, at: time)
        if let reason = contest.lockedReason { throw Refusal(reason) }
        guard entry.roster != roster else { return entry }
        let next = entry.changed {
            $0.body.roster = roster
            $0.body.rosterVersion += 1
        }
        books.put(next.record)
        return next
    }
}

extension Footprint {
    /// Adds a contest, and the user's entry in it once its unique name is loaded.
    mutating func touchEntry(of user: UserID, in contest: RecordID, knowing rows: Snapshot?) {
        let name = ContestID.entryName(contest, user)
        records.insert(contest)
        names.insert(name)
        guard let rows else { return needsAnotherRound = true }
        if let known = rows.names[name] { records.insert(RecordID(trusted: known.target)) }
    }
}
