internal import GotchuCore

/// A snapshot in the hands of a batch: what its commands read and change, and which rows they
/// changed.
///
/// Every change goes through here, so that effects cannot be forgotten.
package struct Books: Sendable {
    private(set) package var rows: Snapshot
    private var changedWallets: Set<Wallet.Place> = []
    private var changedSessions: Set<SessionID> = []
    private var written = Effects()

    package init(_ snapshot: Snapshot) {
        rows = snapshot
    }

    /// The rows to be written. Changed rows are in the order of their ids, so that two writers of
    /// one database would always lock them in the same order.
    package var effects: Effects {
        var effects = written
        effects.wallets = changedWallets.compactMap { rows.wallets[$0] }
            .sorted { $0.id.rawValue < $1.id.rawValue }
        effects.sessions = changedSessions.compactMap { rows.sessions[$0] }
            .sorted { $0.id.rawValue < $1.id.rawValue }
        return effects
    }

    mutating func insert(_ user: User) {
        rows.insert(user)
        written.newUsers.append(user)
    }

    mutating func put(_ wallet: Wallet) {
        changedWallets.insert(wallet.place)
        rows.wallets[wallet.place] = wallet
    }

    /// A change that merchants are told about goes into the outbox with it, in the same commit.
    mutating func put(_ session: Session, at time: Timestamp) {
        if let event = SessionEvent(from: rows.sessions[session.id], to: session, at: time) {
            written.newEvents.append(event)
        }
        let wasLive = rows.sessions[session.id].map { !$0.status.isFinal } ?? false
        let isLive = !session.status.isFinal
        if isLive != wasLive {
            rows.liveSessions[session.payee]? += isLive ? 1 : -1
        }
        changedSessions.insert(session.id)
        rows.takenEIDs.insert(session.eid)
        rows.sessions[session.id] = session
    }

    mutating func retire(_ eid: RetiredEID) {
        rows.retiredEIDs[eid.eid] = eid
        written.newRetiredEIDs.append(eid)
    }

    mutating func remember(_ send: RememberedSend) {
        precondition(rows.sends[send.key] == nil, "a key is decided once")
        rows.sends[send.key] = send
        written.newSends.append(send)
    }

    mutating func remember(_ refund: RememberedRefund) {
        precondition(rows.refunds[refund.key] == nil, "a key is decided once")
        rows.refunds[refund.key] = refund
        written.newRefunds.append(refund)
    }

    mutating func probe(at time: Timestamp) {
        written.probedAt = time
    }

    /// Moves `amount` from one wallet to another: the one way in which a balance changes.
    ///
    /// - Precondition: The wallets differ and the amount is positive; both balances stay in range.
    mutating func transfer(
        _ id: TransferID,
        kind: Transfer.Kind,
        amount: Money,
        from source: Wallet,
        to destination: Wallet,
        order: Transfer.Order?,
        at time: Timestamp
    ) {
        precondition(source.id != destination.id && amount.minorUnits > 0)
        let debit = post(-amount.minorUnits, on: source)
        let credit = post(amount.minorUnits, on: destination)
        written.newTransfers.append(
            Transfer(
                id: id,
                kind: kind,
                amount: amount,
                createdAt: time,
                order: order,
                lines: [debit, credit]
            )
        )
    }

    private mutating func post(_ amount: Int64, on wallet: Wallet) -> Transfer.Line {
        var wallet = wallet
        wallet.balance += amount
        wallet.entryCount += 1
        put(wallet)
        return Transfer.Line(wallet: wallet.id, number: wallet.entryCount, amount: amount)
    }
}
