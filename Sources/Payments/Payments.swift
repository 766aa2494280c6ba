package import GotchuCore
package import Ledger

/// Reads of sessions, limited to what their parties may see.
extension Ledger {
    /// Returns a session as it is now, to a user who may see it.
    ///
    /// Its expiry is recorded first, so that every reader sees the same versions.
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
        // A payer whose lock has lapsed may not see the session: another payer may hold it.
        guard case .success(let session) = settled, !session.isVisible(to: user) else {
            return settled
        }
        return .failure(Refusal(.forbidden))
    }

    /// Returns the session of an EID at this moment, as a payer who heard it may see it.
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
