package import GotchuCore

/// The payer who holds a session gives it back.
package struct UnlockSession: Equatable, Sendable {
    package let session: SessionID
    package let payer: UserID

    package init(session: SessionID, payer: UserID) {
        self.session = session
        self.payer = payer
    }

    func decide(on books: inout Books, at time: Timestamp) -> Answer {
        guard let session = books.rows.sessions[session]?.settled(at: time) else {
            return .refused(Refusal(.unknownSession))
        }
        switch session.state {
        case .locked(payer, _):
            let free = session.changed(to: .advertising)
            books.put(free, at: time)
            return .session(free)
        case .locked: return .refused(Refusal(.forbidden))
        case .created, .advertising: return .refused(Refusal(.sessionNotLocked))
        case .paid: return .refused(Refusal(.sessionPaid))
        case .timedOut: return .refused(Refusal(.sessionExpired))
        case .cancelled: return .refused(Refusal(.sessionCancelled))
        }
    }
}
