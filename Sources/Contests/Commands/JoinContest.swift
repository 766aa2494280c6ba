package import GotchuCore
package import Ledger
internal import Payments

/// Enters a user: the fee is moved into the pot and the entry is written in one step.
package struct JoinContest: RecordCommand {
    package static let name = "join-contest"

    package let contest: RecordID
    package let user: UserID
    /// The id of the entry, if it is made.
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
        footprint.names.insert(ContestID.entryName(contest, user))
        footprint.owners.formUnion([.user(user), .pot(contest)])
    }

    package func decide(on books: inout Books, at time: Timestamp) throws(Refusal) -> RecordID {
        guard let known = books.rows.users[user] else { throw Refusal(.unknownUser) }
        let contest = try books.contest(contest, at: time)
        guard contest.organizer != user else { throw Refusal(.ownContest) }
        guard contest.admits(invitation) else { throw Refusal(.joinTokenRequired) }
        let name = ContestID.entryName(contest.id, user)
        if let reason = contest.lockedReason { throw Refusal(reason) }
        guard books.rows.names[name].map({ !$0.isAlive(at: time) }) ?? true else {
            throw Refusal(.alreadyJoined)
        }
        let fee = contest.terms.fee
        guard expectedFee.map({ $0 == fee }) ?? true else { throw Refusal(.amountChanged) }
        guard contest.body.entryCount < contest.terms.maxEntries,
            contest.body.entryNumber < Contest.joinLimit
        else { throw Refusal(.contestFull) }
        let number = contest.body.entryNumber + 1
        if fee > 0 {
            try books.post(
                .stake,
                [(contest.account(of: user), -fee), (contest.pot, fee)],
                record: contest.id,
                step: "in/\(number)",
                at: time
            )
        }
        let made = ContestEntry(
            id: entry,
            user: user,
            joinedAt: time,
            body: ContestEntry.Body(
                contest: contest.id,
                number: number,
                fee: fee,
                name: known.displayName
            )
        )
        books.add(child: made.record, of: contest.id, number: number)
        let isClaimed = books.claim(name, for: entry.rawValue, until: nil, at: time)
        precondition(isClaimed, "the name was free")
        let next = contest.changed(at: time) {
            $0.body.entryCount += 1
            $0.body.entryNumber = number
        }
        books.put(next, at: time)
        return contest.id
    }
}

/// Takes a user out before the lock: the fee goes back in the same step.
package struct LeaveContest: RecordCommand {
    package static let name = "leave-contest"

    package let contest: RecordID
    package let user: UserID

    package init(contest: RecordID, user: UserID) {
        self.contest = contest
        self.user = user
    }

    package var record: RecordID { contest }

    package func touch(_ footprint: inout Footprint, knowing rows: Snapshot?) {
        footprint.touchEntry(of: user, in: contest, knowing: rows)
        footprint.owners.formUnion([.user(user), .pot(contest)])
    }

    package func decide(on books: inout Books, at time: Timestamp) throws(Refusal) -> RecordID {
        let contest = try books.contest(contest, at: time)
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
        books.put(entry.changed { $0.isIn = false }.record)
        books.release(ContestID.entryName(contest.id, user), at: time)
        books.put(contest.changed(at: time) { $0.body.entryCount -= 1 }, at: time)
        return contest.id
    }
}

/// Replaces an entrant's roster, before the lock.
package struct EnterRoster: LedgerCommand {
    package static let name = "enter-roster"

    package let contest: RecordID
    package let user: UserID
    /// The ids of players, which keep the template's rule.
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
        let contest = try books.contest(contest, at: time)
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
    /// Adds a contest, and the entry of a user in it once its name is known.
    mutating func touchEntry(of user: UserID, in contest: RecordID, knowing rows: Snapshot?) {
        let name = ContestID.entryName(contest, user)
        records.insert(contest)
        names.insert(name)
        guard let rows else { return asksAgain = true }
        if let known = rows.names[name] { records.insert(RecordID(trusted: known.target)) }
    }
}
