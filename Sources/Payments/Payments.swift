package import GotchuCore
package import Ledger

/// Sessions as their parties may see them.
extension Ledger {
    /// A session as it is now, for those who may see it.
    ///
    /// A change by time is written down first, so that everybody sees the same versions.
    package func session(
        _ id: SessionID,
        visibleTo user: UserID
    ) async throws(LedgerError) -> Result<Session, Refusal> {
        guard let record = try await record(RecordID(id)) else {
            return .failure(Refusal(.unknownSession))
        }
        let stored = try Session(record)
        guard stored.isVisible(to: user) else { return .failure(Refusal(.forbidden)) }
        guard stored.asOf(settledUntil) != stored else { return .success(stored) }
        let settled = try await submit(SettleSession(id))
        // A payer whose lock is over has no business with it any more, and another may have it.
        guard case .success(let session) = settled, !session.isVisible(to: user) else {
            return settled
        }
        return .failure(Refusal(.forbidden))
    }

    /// The session that an EID stands for at this moment, as a payer who heard it may see it.
    package func published(_ eid: EID) async throws(LedgerError) -> PublishedSession? {
        guard let named = try await record(named: Session.name(of: eid)) else { return nil }
        let now = now
        if let until = named.until, now >= until { return nil }
        return PublishedSession(
            session: try Session(named.record).asOf(now),
            payeeName: named.ownerName
        )
    }
}

/// A session as a payer who heard its EID may see it.
package struct PublishedSession: Equatable, Sendable {
    package let session: Session
    package let payeeName: String
}
