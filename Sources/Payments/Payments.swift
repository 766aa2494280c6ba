package import GotchuCore
package import Ledger

/// Reads of sessions, limited to what their parties may see.
extension Ledger {
    /// Returns a session to a user who may see it.
    ///
    /// If the session or its lock has expired, that is recorded first: all readers see the same
    /// versions.
    ///
    /// A group is shown to its payee. For a payer the group's id refers to their own share.
    package func session(
        _ id: SessionID,
        visibleTo user: UserID
    ) async throws(LedgerError) -> Result<Session, Refusal> {
        guard let record = try await record(RecordID(id)) else {
            return .failure(Refusal(.unknownSession))
        }
        if record.kind == Group.kind { return try await group(Group(record), visibleTo: user) }
        // The id may be that of a contest or of a withdrawal.
        guard record.kind == Session.kind else { return .failure(Refusal(.unknownSession)) }
        let stored = try Session(record)
        guard stored.isVisible(to: user) else { return .failure(Refusal(.forbidden)) }
        guard stored.asOf(settledUntil) != stored else { return .success(stored) }
        let settled = try await submit(SettleSession(id))
        // A payer whose lock has expired may not see the session.
        guard case .success(let session) = settled, !session.isVisible(to: user) else {
            return settled
        }
        return .failure(Refusal(.forbidden))
    }

    /// Returns the session that an id refers to for a user: for the payer of a group, their share.
    package func subject(
        of id: SessionID,
        _ user: UserID
    ) async throws(LedgerError) -> SessionID {
        guard id.isGroup, let record = try await record(RecordID(id)), record.kind == Group.kind
        else { return id }
        return try await share(of: Group(record), for: user) ?? id
    }

    /// Returns the share of a group that a payment's answer refers to.
    package func share(
        paidBy answer: Answer?,
        of group: Group
    ) async throws(LedgerError) -> Session? {
        guard let transfer = answer?.transfer else { return nil }
        if group.sale != nil {
            guard let share = answer?.soldShare, share.group == group.id,
                let record = try await record(RecordID(share))
            else { return nil }
            return try Session(record)
        }
        let place = transfer.step.split(separator: "/").last.flatMap { Int64($0) }
        let paid = group.paidClaims.first { claim in
            transfer.record == RecordID(group.shareID(claim.share))
                || transfer.record == group.recordID && claim.place == place
        }
        guard let paid, let record = try await record(RecordID(group.shareID(paid.share))) else {
            return nil
        }
        return try Session(record)
    }

    /// Returns a payer's own share of a group: the share that they hold now, else one that they
    /// have paid.
    package func ownShare(
        of group: Group,
        for user: UserID
    ) async throws(LedgerError) -> Session? {
        guard let id = try await share(of: group.asOf(now), for: user),
            let record = try await record(RecordID(id))
        else { return nil }
        return try Session(record)
    }

    private func group(
        _ stored: Group,
        visibleTo user: UserID
    ) async throws(LedgerError) -> Result<Session, Refusal> {
        guard stored.payee == user else {
            guard let share = try await share(of: stored, for: user) else {
                return .failure(Refusal(.forbidden))
            }
            return try await session(share, visibleTo: user)
        }
        guard stored.isChanged(by: settledUntil) else { return .success(stored.payeeSession) }
        return try await submit(SettleGroup(stored.id))
    }

    /// Returns the share that a group's id refers to for a payer.
    private func share(
        of group: Group,
        for user: UserID
    ) async throws(LedgerError) -> SessionID? {
        if let own = group.subject(for: user) { return own }
        guard group.sale != nil else { return nil }
        let named = try await record(named: Group.saleName(group.id, user))
        return named.flatMap { SessionID(rawValue: $0.record.id.rawValue) }
    }

    /// Returns the current session of an EID, as shown to a payer who received the EID.
    package func published(_ eid: EID) async throws(LedgerError) -> PublishedSession? {
        guard let named = try await record(named: Session.name(of: eid)) else { return nil }
        let now = now
        if let until = named.until, now >= until { return nil }
        let record = named.record
        return PublishedSession(
            session: record.kind == Group.kind
                ? try Group(record).asOf(now).offer(at: now) : try Session(record).asOf(now),
            record: record,
            payeeName: named.ownerName
        )
    }
}

extension Answer {
    /// The payment, if the answer is about one.
    package var payment: Pay.Outcome? {
        key.command == Pay.name ? decode(Pay.Outcome.self) : nil
    }

    /// The share that was paid, if it bought a place of another record.
    package var soldShare: SessionID? { payment?.share }
}

/// A session as shown to a payer who received its EID.
package struct PublishedSession: Equatable, Sendable {
    /// The session; for a group, its offer to the payer.
    package let session: Session
    /// The stored record.
    package let record: Record
    package let payeeName: String
}
