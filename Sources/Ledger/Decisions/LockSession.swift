package import GotchuCore

/// A payer takes a session for a while; the first one wins.
package struct LockSession: Equatable, Sendable {
    package let session: SessionID
    package let payer: UserID

    package init(session: SessionID, payer: UserID) {
        self.session = session
        self.payer = payer
    }

    func decide(on books: inout Books, at time: Timestamp) -> Answer {
        guard books.rows.users[payer] != nil else { return .refused(Refusal(.unknownUser)) }
        guard let session = books.rows.sessions[session]?.settled(at: time) else {
            return .refused(Refusal(.unknownSession))
        }
        guard session.payee != payer else { return .refused(Refusal(.ownSession)) }
        switch session.state {
        case .created, .advertising:
            let until = min(time.advanced(by: Session.lease), session.expiresAt)
            let locked = session.changed(to: .locked(by: payer, until: until))
            books.put(locked, at: time)
            return .session(locked)
        case .locked(payer, _):
            // A resend. The lease is not renewed, or one payer could sit on a session for ever.
            return .session(session)
        case .locked: return .refused(Refusal(.sessionBusy))
        case .paid: return .refused(Refusal(.sessionPaid))
        case .timedOut: return .refused(Refusal(.sessionExpired))
        case .cancelled: return .refused(Refusal(.sessionCancelled))
        }
    }
}
