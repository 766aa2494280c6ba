package import GotchuCore

/// The payee calls a session off, as long as no payer holds it.
package struct CancelSession: Equatable, Sendable {
    package let session: SessionID
    package let payee: UserID

    package init(session: SessionID, payee: UserID) {
        self.session = session
        self.payee = payee
    }

    func decide(on books: inout Books, at time: Timestamp) -> Answer {
        guard let session = books.rows.sessions[session]?.settled(at: time) else {
            return .refused(Refusal(.unknownSession))
        }
        guard session.payee == payee else { return .refused(Refusal(.forbidden)) }
        switch session.state {
        case .created, .advertising:
            let cancelled = session.changed(to: .cancelled)
            books.put(cancelled, at: time)
            return .session(cancelled)
        case .cancelled: return .session(session)
        case .locked: return .refused(Refusal(.sessionBusy))
        case .paid: return .refused(Refusal(.sessionPaid))
        case .timedOut: return .refused(Refusal(.sessionExpired))
        }
    }
}
