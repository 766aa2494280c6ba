package import GotchuCore
package import Ledger

/// A session that was just created, with its payee's name as payers see it.
package struct CreatedSession: Equatable, Sendable {
    package let session: Session
    package let payeeName: String
}

/// Creates a session. It is published at once: it starts as ADVERTISING.
package struct CreateSession: LedgerCommand {
    package static let name = "create-session"
    /// The default limit of open sessions per payee.
    package static let defaultLiveLimit = 1_000
    /// The number of EIDs that a caller proposes, so that a collision needs no second attempt.
    package static let eidProposals = 3

    package let id: SessionID
    package let payee: UserID
    package let amount: Money
    package let memo: String?
    package let reference: String?
    package let lifetime: Duration
    package let allowsTip: Bool
    /// The proposed EIDs; the first free one is used.
    package let eids: [EID]
    /// The most sessions of the payee that may be open, this one included.
    package let liveLimit: Int
    /// The house's take of the amount in basis points, unless the payee has a rate of their own.
    package let defaultTakeBasisPoints: Int64

    package init(
        id: SessionID = .make(),
        payee: UserID,
        amount: Money,
        memo: String?,
        reference: String?,
        lifetime: Duration,
        allowsTip: Bool = false,
        eids: [EID] = (0..<Self.eidProposals).map { _ in .random() },
        liveLimit: Int = Self.defaultLiveLimit,
        defaultTakeBasisPoints: Int64 = 0
    ) {
        self.id = id
        self.payee = payee
        self.amount = amount
        self.memo = memo
        self.reference = reference
        self.lifetime = lifetime
        self.allowsTip = allowsTip
        self.eids = eids
        self.liveLimit = liveLimit
        self.defaultTakeBasisPoints = defaultTakeBasisPoints
    }

    private var group: RecordGroup { RecordGroup(owner: payee, kind: Session.kind) }

    package var spender: UserID? { payee }

    package func touch(_ footprint: inout Footprint, knowing rows: Snapshot?) {
        footprint.owners.insert(.user(payee))
        footprint.users.insert(payee)
        footprint.names.formUnion(eids.map(Session.name(of:)))
        footprint.dueGroups.insert(group)
    }

    package func decide(
        on books: inout Books,
        at time: Timestamp
    ) throws(Refusal) -> CreatedSession {
        guard let user = books.rows.users[payee] else { throw Refusal(.unknownUser) }
        guard books.rows.accounts[Account.Key(.user(payee), amount.currency)] != nil else {
            throw Refusal(.noWalletInCurrency)
        }
        guard books.rows.dueCounts[group, default: 0] < liveLimit else {
            throw Refusal(.tooManyLiveSessions)
        }
        guard let eid = books.free(among: eids) else { throw Refusal(.noFreeEID) }
        let session = Session(
            id: id,
            eid: eid,
            payee: payee,
            amount: amount,
            memo: memo,
            reference: reference,
            createdAt: time,
            expiresAt: time.advanced(by: lifetime),
            state: .advertising,
            version: 1,
            tip: allowsTip ? 0 : nil,
            take: Take.part(
                of: amount.minorUnits,
                basisPoints: user.terms.takeBasisPoints ?? defaultTakeBasisPoints
            )
        )
        books.put(session, at: time)
        books.put(Name(Session.name(of: eid), target: id.rawValue))
        return CreatedSession(session: session, payeeName: user.displayName)
    }
}

/// Locks a session for a payer for a limited time; the first payer wins.
package struct LockSession: LedgerCommand {
    package static let name = "lock-session"

    package let session: SessionID
    package let payer: UserID
    /// The requested place in a group; `nil` for any.
    package let place: Int64?
    /// The amount that the payer saw, in minor units, if the client sent it.
    package let expectedAmount: Int64?
    private let share: ShareClaim?

    package init(
        session: SessionID,
        payer: UserID,
        place: Int64? = nil,
        expectedAmount: Int64? = nil,
        purposes: GroupPurposes = .splits
    ) {
        self.session = session
        self.payer = payer
        self.place = place
        self.expectedAmount = expectedAmount
        share = ShareClaim(session, by: payer, purposes)
    }

    package func touch(_ footprint: inout Footprint, knowing rows: Snapshot?) {
        footprint.users.insert(payer)
        if let share { return share.touch(&footprint, knowing: rows) }
        footprint.records.insert(RecordID(session))
    }

    package func decide(on books: inout Books, at time: Timestamp) throws(Refusal) -> Session {
        if let share {
            return try share.lock(
                place: place,
                expectedAmount: expectedAmount,
                on: &books,
                at: time
            )
        }
        guard books.rows.users[payer] != nil else { throw Refusal(.unknownUser) }
        let session = try books.session(session, at: time)
        guard session.payee != payer else { throw Refusal(.ownSession) }
        if let reason = session.finalReason { throw Refusal(reason) }
        guard place == nil else { throw Refusal(.shareTaken) }
        if let expectedAmount, expectedAmount != session.amount.minorUnits {
            throw Refusal(.amountChanged)
        }
        if let holder = session.payer {
            // A repeated request does not renew the lease. Otherwise one payer could hold the
            // session until it expires.
            guard holder == payer else { throw Refusal(.sessionBusy) }
            return session
        }
        let until = min(time.advanced(by: Session.lease), session.expiresAt)
        let locked = session.changed(to: .locked(by: payer, until: until))
        books.put(locked, at: time)
        return locked
    }
}

/// Releases a payer's lock on a session.
package struct UnlockSession: LedgerCommand {
    package static let name = "unlock-session"

    package let session: SessionID
    package let payer: UserID
    private let share: ShareClaim?

    package init(session: SessionID, payer: UserID, purposes: GroupPurposes = .splits) {
        self.session = session
        self.payer = payer
        share = ShareClaim(session, by: payer, purposes)
    }

    package func touch(_ footprint: inout Footprint, knowing rows: Snapshot?) {
        if let share { return share.touch(&footprint, knowing: rows) }
        footprint.records.insert(RecordID(session))
    }

    package func decide(on books: inout Books, at time: Timestamp) throws(Refusal) -> Session {
        if let share { return try share.unlock(on: &books, at: time) }
        let session = try books.session(session, at: time)
        if let reason = session.finalReason { throw Refusal(reason) }
        guard let holder = session.payer else { throw Refusal(.sessionNotLocked) }
        guard holder == payer else { throw Refusal(.forbidden) }
        let free = session.changed(to: .advertising)
        books.put(free, at: time)
        return free
    }
}

/// Cancels a session of the payee if no payer holds it. The money in a group's pot is returned.
package struct CancelSession: LedgerCommand {
    package static let name = "cancel-session"

    package let session: SessionID
    package let payee: UserID

    package init(session: SessionID, payee: UserID) {
        self.session = session
        self.payee = payee
    }

    package func touch(_ footprint: inout Footprint, knowing rows: Snapshot?) {
        footprint.records.insert(RecordID(session))
        if session.isGroup { GroupEnd.touch(&footprint, RecordID(session), knowing: rows) }
    }

    package func decide(on books: inout Books, at time: Timestamp) throws(Refusal) -> Session {
        if session.isGroup { return try cancelGroup(on: &books, at: time) }
        let session = try books.session(session, at: time)
        guard session.payee == payee else { throw Refusal(.forbidden) }
        switch session.state {
        case .created, .advertising:
            let cancelled = session.changed(to: .cancelled)
            books.put(cancelled, at: time)
            return cancelled
        case .cancelled: return session
        case .locked: throw Refusal(.sessionBusy)
        case .paid: throw Refusal(.sessionPaid)
        case .expired: throw Refusal(.sessionExpired)
        }
    }

    private func cancelGroup(
        on books: inout Books,
        at time: Timestamp
    ) throws(Refusal) -> Session {
        let group = try books.group(session, at: time)
        guard group.payee == payee else { throw Refusal(.forbidden) }
        if group.state == .cancelled { return group.payeeSession }
        if let reason = group.finalReason(at: time) { throw Refusal(reason) }
        guard group.heldClaims.isEmpty else { throw Refusal(.sessionBusy) }
        return try GroupEnd(group, as: .cancelled).decide(on: &books, at: time).payeeSession
    }
}

/// Replaces a session's EID, so that nobody can track the payee by it.
package struct RotateEID: LedgerCommand {
    package static let name = "rotate-eid"
    /// The time for which the old EID still resolves, for payers who received it just before.
    static let overlap: Duration = .seconds(60)
    /// The maximum number of EID changes of a session of up to 300 seconds: one in 12 seconds.
    package static let limit = 24
    /// The average interval to which the changes of a longer session are limited, in milliseconds.
    private static let interval: Int64 = 12_000

    package let session: SessionID
    package let payee: UserID
    /// The EID that the caller has, if the client sent it. If the answer is lost, the caller
    /// repeats the call with the same EID. The session's current EID is then returned, without
    /// another change.
    package let replaced: EID?
    /// The proposed EIDs; the first free one is used.
    package let eids: [EID]

    package init(
        session: SessionID,
        payee: UserID,
        replaced: EID?,
        eids: [EID] = (0..<CreateSession.eidProposals).map { _ in .random() }
    ) {
        self.session = session
        self.payee = payee
        self.replaced = replaced
        self.eids = eids
    }

    package func touch(_ footprint: inout Footprint, knowing rows: Snapshot?) {
        footprint.records.insert(RecordID(session))
        let named = eids + (replaced.map { [$0] } ?? [])
        footprint.names.formUnion(named.map(Session.name(of:)))
    }

    package func decide(on books: inout Books, at time: Timestamp) throws(Refusal) -> Rotation {
        let group = session.isGroup ? try books.group(session, at: time) : nil
        let session =
            if let group { group.payeeSession } else { try books.session(session, at: time) }
        guard session.payee == payee else { throw Refusal(.forbidden) }
        if let reason = session.finalReason { throw Refusal(reason) }
        if let replaced, replaced != session.eid {
            guard let name = books.rows.names[Session.name(of: replaced)],
                name.target == session.id.rawValue, let until = name.until
            else { throw Refusal(.unknownEID) }
            return Rotation(session: session, replaced: replaced, replacedUntil: until)
        }
        let lifetime = session.createdAt.duration(to: session.expiresAt).wholeMilliseconds
        let limit = max(Int64(Self.limit), lifetime / Self.interval - 1)
        guard session.rotations < limit else { throw Refusal(.tooManyRotations) }
        guard let eid = books.free(among: eids) else { throw Refusal(.noFreeEID) }
        let rotated = session.rotated(to: eid)
        let until = min(time.advanced(by: Self.overlap), session.expiresAt)
        if let group {
            books.put(group.rotated(to: eid), at: time)
        } else {
            books.put(rotated, at: time)
        }
        books.put(Name(Session.name(of: eid), target: session.id.rawValue))
        books.release(Session.name(of: session.eid), of: session.id.rawValue, at: until)
        return Rotation(session: rotated, replaced: session.eid, replacedUntil: until)
    }
}

/// The outcome of a rotation: the session with its current EID, and the replaced EID.
package struct Rotation: Equatable, Sendable {
    package let session: Session
    package let replaced: EID
    /// The time at which the replaced EID stops resolving.
    package let replacedUntil: Timestamp
}

/// Records changes of a session by time: its expiry, or that of its lock.
///
/// No decision depends on this: each command sees the session as of its own time. The command
/// notifies watchers, and removes ended sessions from the table `due`.
package struct SettleSession: LedgerCommand {
    package static let name = "settle-session"
    package static let kind = RecordKind(Session.kind) { SettleSession(record: $0) }

    private let record: RecordID

    package init(_ session: SessionID) {
        self.init(record: RecordID(session))
    }

    private init(record: RecordID) {
        self.record = record
    }

    package func touch(_ footprint: inout Footprint, knowing rows: Snapshot?) {
        footprint.records.insert(record)
    }

    package func decide(on books: inout Books, at time: Timestamp) throws(Refusal) -> Session {
        guard let stored = books.rows.records[record], let id = SessionID(rawValue: record.rawValue)
        else { throw Refusal(.unknownSession) }
        let session = try books.session(id, at: time)
        if session.version != stored.version { books.put(session, at: time) }
        return session
    }
}

extension Books {
    func free(among eids: [EID]) -> EID? {
        eids.first { rows.names[Session.name(of: $0)] == nil }
    }
}

extension RecordID {
    package init(_ session: SessionID) {
        self.init(trusted: session.rawValue)
    }
}
