internal import Contests
internal import GotchuAPI
internal import GotchuCore
internal import Ledger
internal import Payments

/// Sessions whose payers enter a contest.
extension SessionRoutes {
    /// Opens a desk: a session of kind `entry`.
    func openDesk(
        of organizer: UserID,
        _ contests: ContestReader,
        _ fields: JSONFields
    ) async throws -> CreatedSession {
        var fields = fields
        let text = try fields.string("contest_id")
        let amount = try fields.integer("amount_cents")
        let memo = try fields.shortText("memo", limit: Self.maximumTextLength)
        let seconds = try fields.integer("ttl_seconds")
        let reference = try fields.shortText("payee_reference", limit: Self.maximumTextLength)
        try fields.rejectUnreadMembers()
        guard let id = text.flatMap({ ContestID.parse($0) }) else {
            throw Problem.invalid("contest_id must be the UUID of a contest.")
        }
        let lifetime = try Self.lifetime(seconds, in: Desk.allowedSeconds)
        guard let contest = try await contests.contest(id), !contest.isHidden(from: organizer)
        else { throw Problem.noContest }
        let fee = contest.terms.fee
        guard fee > 0 else {
            throw Problem.invalid("A free contest has no desk: it is entered without paying.")
        }
        guard amount.map({ $0 == fee }) ?? true else { throw Refusal(.amountChanged).problem }
        try await funding.requireOnboarded(organizer)
        return try await ledger.submit(
            OpenDesk(
                of: contest,
                by: organizer,
                memo: memo ?? contest.terms.title,
                reference: reference,
                lifetime: lifetime,
                liveLimit: liveLimit
            )
        ).accepted()
    }
}

extension Ledger {
    /// Returns the current entry of a user; `nil` without one.
    func entry(
        of user: UserID,
        in contest: RecordID
    ) async throws(LedgerError) -> ContestEntry? {
        let name = ContestID.entryName(contest, user)
        guard let named = try await record(named: name) else { return nil }
        let entry = try ContestEntry(named.record)
        return entry.isCurrent ? entry : nil
    }

    /// Returns the contest of a desk; `nil` for any other session.
    func contest(enteredAt session: Session) async throws(LedgerError) -> Contest? {
        guard let id = session.figures?.sale, let record = try await record(id),
            record.kind == Contest.kind
        else { return nil }
        return try Contest(record)
    }

    /// Returns the refusal that a user's entry would get now; `nil` if the entry may succeed.
    func entryRefusal(of user: UserID, to contest: Contest) async throws(LedgerError) -> Refusal? {
        let time = now
        let contest = contest.asOf(time)
        // In a cancelled contest an entry does not count: all stakes are refunded.
        if contest.state != .cancelled,
            try await entry(of: user, in: contest.id) != nil
        {
            return Refusal(.alreadyJoined)
        }
        if let reason = contest.lockedReason { return Refusal(reason) }
        return contest.hasPlace(for: user, at: time) ? nil : Refusal(.contestFull)
    }
}

extension DeskContest {
    init(_ contest: Contest, at time: Timestamp) {
        self.init(
            id: contest.id.rawValue,
            title: contest.terms.title,
            state: contest.asOf(time).wireState,
            placesLeft: WireCount(contest.placesLeft(at: time)),
            locksAt: contest.terms.lockTime
        )
    }
}
