internal import GotchuCore
internal import Ledger

/// A payer's share of a group, and the commands to lock, unlock and pay a session as they apply to
/// it.
///
/// The client sends the group's id or the share's own. Old clients know only the group's.
struct ShareClaim {
    let named: SessionID
    let group: SessionID
    let payer: UserID
    let purposes: GroupPurposes

    /// - Returns: `nil` for a session with a single payer.
    init?(_ session: SessionID, by payer: UserID, _ purposes: GroupPurposes) {
        guard let group = session.group else { return nil }
        named = session
        self.group = group
        self.payer = payer
        self.purposes = purposes
    }

    /// Adds the group, then the payer's share of it and, for a payment, the rows of its purpose.
    func touch(
        _ footprint: inout Footprint,
        knowing rows: Snapshot?,
        isPaying: Bool = false
    ) {
        footprint.records.insert(RecordID(group))
        if named != group { footprint.records.insert(RecordID(named)) }
        guard let rows else { return footprint.needsAnotherRound = true }
        guard let group = rows.records[RecordID(group)].flatMap({ try? Group($0) }) else { return }
        if let claim = claim(in: group) {
            footprint.records.insert(RecordID(group.shareID(claim.share)))
        }
        if isPaying {
            footprint.owners.insert(.user(group.payee))
            if group.takeBasisPoints != nil { footprint.owners.insert(group.takeAccount.owner) }
            if group.sale != nil { footprint.names.insert(Group.saleName(group.id, payer)) }
        }
        try? purposes.purpose(of: group)
            .touch(&footprint, for: group, by: payer, knowing: rows, isPaying: isPaying)
    }

    /// Returns the payer's hold; if the client named a share, only the hold of that share.
    private func claim(in group: Group) -> Group.Claim? {
        group.heldClaims.first { claim in
            claim.payer == payer && [group.id, group.shareID(claim.share)].contains(named)
        }
    }

    /// Returns the share that the payer holds; creates one if there is none.
    func lock(
        place: Int64?,
        expectedAmount: Int64?,
        on books: inout Books,
        at time: Timestamp
    ) throws(Refusal) -> Session {
        guard books.rows.users[payer] != nil else { throw Refusal(.unknownUser) }
        let group = try books.group(group, at: time)
        guard group.payee != payer else { throw Refusal(.ownSession) }
        try requireOpen(group, books, time)
        if let claim = claim(in: group) {
            // A repeated request does not renew the lease. Otherwise one payer could hold a place
            // until the group expires.
            guard place.map({ $0 == claim.place }) ?? true else { throw Refusal(.shareTaken) }
            guard expectedAmount.map({ $0 == group.amount(of: claim.place) }) ?? true else {
                throw Refusal(.amountChanged)
            }
            return try books.session(group.shareID(claim.share), at: time)
        }
        guard named == group.id else { throw Refusal(reason(in: group, books, time)) }
        guard group.shareCount < group.shareLimit,
            group.lapses[payer, default: 0] < Group.lapseLimit
        else { throw Refusal(.sessionBusy) }
        let request = PlaceRequest(payer: payer, place: place, expectedAmount: expectedAmount)
        let purpose = try purposes.purpose(of: group)
        let chosen = try purpose.choose(for: request, in: group, on: books, at: time)
        return try hold(chosen, of: group, on: &books, at: time)
    }

    private func hold(
        _ place: Int64,
        of group: Group,
        on books: inout Books,
        at time: Timestamp
    ) throws(Refusal) -> Session {
        guard let amount = group.amount(of: place) else { throw Refusal(.unreadable) }
        let until = min(time.advanced(by: Session.lease), group.expiresAt)
        var next = group.claimed(
            Group.Claim(place: place, payer: payer, share: group.shareCount + 1, until: until),
            at: time
        )
        next.shareCount += 1
        let share = Session(
            id: group.shareID(next.shareCount),
            eid: group.eid,
            payee: group.payee,
            amount: Money(minorUnits: amount, currency: group.amount.currency),
            memo: group.memo,
            reference: group.reference,
            createdAt: time,
            expiresAt: until,
            state: .locked(by: payer, until: until),
            version: 1,
            take: group.take(of: place),
            role: .share(Session.Share(group: group.id, place: place))
        )
        try purposes.purpose(of: group)
            .hold(share.id, of: group, by: payer, until: until, on: &books, at: time)
        books.add(child: share.record, of: group.recordID, number: next.shareCount)
        books.put(next, at: time)
        return share
    }

    func unlock(on books: inout Books, at time: Timestamp) throws(Refusal) -> Session {
        let group = try books.group(group, at: time)
        try requireOpen(group, books, time)
        guard let claim = claim(in: group) else { throw Refusal(reason(in: group, books, time)) }
        let free = try books.session(group.shareID(claim.share), at: time)
            .changed(to: .cancelled)
        try purposes.purpose(of: group).release(free.id, of: group, on: &books, at: time)
        books.put(free, at: time)
        books.put(group.released(claim), at: time)
        return free
    }

    func pay(
        expectedAmount: Int64?,
        tip: Int64,
        on books: inout Books,
        at time: Timestamp
    ) throws(Refusal) -> (share: Session, transfer: Transfer) {
        let group = try books.group(group, at: time)
        guard group.payee != payer else { throw Refusal(.ownSession) }
        try requireOpen(group, books, time)
        guard var claim = claim(in: group) else { throw Refusal(reason(in: group, books, time)) }
        let share = try books.session(group.shareID(claim.share), at: time)
        guard case .locked = share.state else { throw Refusal(.sessionNotLocked) }
        if let expectedAmount, expectedAmount != share.amount.minorUnits {
            throw Refusal(.amountChanged)
        }
        guard tip == 0 else { throw Refusal(.tipNotAllowed) }
        claim.until = nil
        let paid = group.claimed(claim, at: time)
        let purpose = try purposes.purpose(of: group)
        let transfer = try purpose.pay(share, by: payer, of: paid, on: &books, at: time)
        let isPooled = transfer.key.record != share.recordID
        let paidShare = share.paid(by: payer, into: isPooled ? transfer.key : nil, at: time)
        books.put(paidShare, at: time)
        books.put(paid, at: time)
        let name = Group.saleName(group.id, payer)
        if group.sale != nil, books.rows.names[name] == nil {
            books.put(Name(name, target: share.id.rawValue))
        }
        return (paidShare, transfer)
    }

    /// Throws if the group has ended.
    private func requireOpen(
        _ group: Group,
        _ books: Books,
        _ time: Timestamp
    ) throws(Refusal) {
        guard let reason = group.finalReason(at: time) else { return }
        guard group.state == .cancelled else { throw Refusal(reason) }
        let purpose = try purposes.purpose(of: group)
        throw Refusal(try purpose.closedReason(of: group, on: books, at: time) ?? reason)
    }

    /// Returns the reason why the payer does not hold a place, or not that of the named share.
    private func reason(
        in group: Group,
        _ books: Books,
        _ time: Timestamp
    ) -> Refusal.Reason {
        guard named != group.id else {
            let hasPaid = group.paidClaims.contains { $0.payer == payer }
            return hasPaid ? .sessionPaid : .sessionNotLocked
        }
        guard let share = try? books.session(named, at: time) else { return .unknownSession }
        switch share.state {
        case .paid: return .sessionPaid
        case .locked: return .sessionBusy
        case .expired: return .sessionExpired
        case .created, .advertising, .cancelled: return .sessionNotLocked
        }
    }
}
