package import GotchuCore
package import Ledger

/// Creates a group. It is published at once, like a session.
package struct CreateGroup: LedgerCommand {
    package static let name = "create-group"

    package let id: SessionID
    package let purpose: String
    package let payee: UserID
    package let currency: Currency
    /// The amount of each place in minor units.
    package let shares: [Int64]
    package let isAllOrNothing: Bool
    package let sale: Group.Sale?
    package let memo: String?
    package let reference: String?
    package let lifetime: Duration
    /// The latest time at which the group may end; `nil` if only its lifetime limits it.
    package let endsBy: Timestamp?
    /// The proposed EIDs; the first free one is used.
    package let eids: [EID]
    /// The most sessions and groups of the payee that may be open, this one included.
    package let liveLimit: Int
    /// The house's take of each share in basis points, unless the payee has a rate of their own.
    /// Not used for a sale.
    package let defaultTakeBasisPoints: Int64

    /// - Precondition: The sum of the shares, or the price of a sale's place, is an amount that a
    ///   session may request.
    package init(
        id: SessionID = .makeGroup(),
        purpose: String,
        payee: UserID,
        currency: Currency,
        shares: [Int64],
        isAllOrNothing: Bool,
        sale: Group.Sale? = nil,
        memo: String?,
        reference: String?,
        lifetime: Duration,
        endsBy: Timestamp? = nil,
        eids: [EID] = (0..<CreateSession.eidProposals).map { _ in .random() },
        liveLimit: Int = CreateSession.defaultLiveLimit,
        defaultTakeBasisPoints: Int64 = 0
    ) {
        self.id = id
        self.purpose = purpose
        self.payee = payee
        self.currency = currency
        self.shares = shares
        self.isAllOrNothing = isAllOrNothing
        self.sale = sale
        self.memo = memo
        self.reference = reference
        self.lifetime = lifetime
        self.endsBy = endsBy
        self.eids = eids
        self.liveLimit = liveLimit
        self.defaultTakeBasisPoints = defaultTakeBasisPoints
    }

    private var counted: [RecordGroup] {
        [Session.kind, Group.kind].map { RecordGroup(owner: payee, kind: $0) }
    }

    package var spender: UserID? { payee }

    package func touch(_ footprint: inout Footprint, knowing rows: Snapshot?) {
        footprint.owners.insert(.user(payee))
        footprint.users.insert(payee)
        footprint.names.formUnion(eids.map(Session.name(of:)))
        footprint.dueGroups.formUnion(counted)
    }

    package func decide(
        on books: inout Books,
        at time: Timestamp
    ) throws(Refusal) -> CreatedSession {
        guard let user = books.rows.users[payee] else { throw Refusal(.unknownUser) }
        guard books.rows.accounts[Account.Key(.user(payee), currency)] != nil else {
            throw Refusal(.noWalletInCurrency)
        }
        guard counted.map({ books.rows.dueCounts[$0, default: 0] }).reduce(0, +) < liveLimit else {
            throw Refusal(.tooManyLiveSessions)
        }
        guard let eid = books.free(among: eids) else { throw Refusal(.noFreeEID) }
        let end = time.advanced(by: lifetime)
        let amount = sale == nil ? shares.reduce(0, +) : shares[0]
        let take = user.terms.takeBasisPoints ?? defaultTakeBasisPoints
        let group = Group(
            id: id,
            purpose: purpose,
            payee: payee,
            eid: eid,
            amount: Money(minorUnits: amount, currency: currency),
            memo: memo,
            reference: reference,
            createdAt: time,
            expiresAt: min(end, endsBy ?? end),
            isAllOrNothing: isAllOrNothing,
            shares: shares,
            takeBasisPoints: sale == nil && take > 0 ? take : nil,
            sale: sale
        )
        books.put(group, at: time)
        books.put(Name(Session.name(of: eid), target: id.rawValue))
        return CreatedSession(session: group.payeeSession, payeeName: user.displayName)
    }
}

/// Records changes of a group by time: expired holds, and its end, at which its pot is returned.
package struct SettleGroup: LedgerCommand {
    package static let name = "settle-group"
    package static let kind = RecordKind(Group.kind) { SettleGroup(record: $0) }

    private let record: RecordID

    package init(_ group: SessionID) {
        self.init(record: RecordID(group))
    }

    private init(record: RecordID) {
        self.record = record
    }

    package func touch(_ footprint: inout Footprint, knowing rows: Snapshot?) {
        footprint.records.insert(record)
        GroupEnd.touch(&footprint, record, knowing: rows)
    }

    package func decide(on books: inout Books, at time: Timestamp) throws(Refusal) -> Session {
        guard let stored = books.rows.records[record], let id = SessionID(rawValue: record.rawValue)
        else { throw Refusal(.unknownSession) }
        let group = try books.group(id, at: time)
        if !group.isFinal, time >= group.expiresAt {
            return try GroupEnd(group, as: .expired).decide(on: &books, at: time).payeeSession
        }
        if group.version != stored.version { books.put(group, at: time) }
        return group.payeeSession
    }
}

/// Ends a group that was not paid, and returns the money in its pot in the same commit.
struct GroupEnd {
    private let group: Group
    private let state: Group.State

    init(_ group: Group, as state: Group.State) {
        self.group = group
        self.state = state
    }

    /// Adds the rows that the end of a pot changes: the paid shares and their payers.
    static func touch(_ footprint: inout Footprint, _ record: RecordID, knowing rows: Snapshot?) {
        guard let rows else { return footprint.needsAnotherRound = true }
        guard let group = rows.records[record].flatMap({ try? Group($0) }), group.pooled > 0 else {
            return
        }
        footprint.owners.insert(group.pot.owner)
        for claim in group.paidClaims {
            footprint.owners.insert(.user(claim.payer))
            footprint.records.insert(RecordID(group.shareID(claim.share)))
        }
    }

    func decide(on books: inout Books, at time: Timestamp) throws(Refusal) -> Group {
        let total = group.pooled
        if total > 0 {
            var shares: [Session] = []
            for claim in group.paidClaims {
                shares.append(try books.session(group.shareID(claim.share), at: time))
            }
            let lines = shares.compactMap { share in
                share.payer.map { (Account.Key(.user($0), group.amount.currency), share.total) }
            }
            try books.post(
                .returned,
                [(group.pot, -total)] + lines,
                record: group.recordID,
                step: Split.end,
                at: time
            )
            for share in shares {
                books.put(share.returned(), refunding: share.total, at: time)
            }
        }
        let ended = group.ended(as: state)
        books.put(ended, at: time)
        return ended
    }
}

extension Books {
    /// Returns a group as of `time`.
    ///
    /// - Throws: `unreadable`, and `unknownSession`.
    func group(_ id: SessionID, at time: Timestamp) throws(Refusal) -> Group {
        guard let record = rows.records[RecordID(id)], record.kind == Group.kind else {
            throw Refusal(.unknownSession)
        }
        do { return try Group(record).asOf(time) } catch { throw Refusal(.unreadable) }
    }

    /// Cancels a group because its sale is over, even if places are held. Does nothing if the group
    /// has ended or cannot be read.
    ///
    /// - Precondition: Its pot is empty.
    package mutating func close(_ id: SessionID, at time: Timestamp) {
        guard let group = try? group(id, at: time), !group.isFinal else { return }
        precondition(group.pooled == 0, "a pot is given back by the command that ends its group")
        put(group.ended(as: .cancelled), at: time)
    }

    /// Returns true if a group may still be paid.
    package func isOpen(_ id: SessionID, at time: Timestamp) -> Bool {
        (try? group(id, at: time)).map { !$0.isFinal } ?? false
    }

    /// Writes a group's next version, with the event that merchants receive.
    mutating func put(_ group: Group, at time: Timestamp) {
        let record = group.record
        let isNewState = record.state != rows.records[record.id]?.state
        let kind: Session.EventKind? =
            switch group.state {
            case .open: nil
            case .paid: .paid
            case .expired: .expired
            case .cancelled: .cancelled
            }
        let event = isNewState ? kind : nil
        put(record, event: event.map { Event(kind: $0.rawValue, record: record, at: time) })
    }
}
