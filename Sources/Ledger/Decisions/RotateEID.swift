package import GotchuCore

/// The payee gives his session another EID, so that nobody can follow him by it.
package struct RotateEID: Equatable, Sendable {
    /// How much longer the old EID resolves, for payers who heard it just before.
    package static let overlap: Duration = .seconds(60)
    /// How often one session may change its EID: every 12 seconds of the longest one.
    package static let limit = 24

    package let session: SessionID
    package let payee: UserID
    /// The EID that the caller has, if he says. Who lost an answer asks with the same one again,
    /// and gets that answer's EID instead of another.
    package let replaced: EID?
    /// The first that nobody has is taken.
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

    func decide(on books: inout Books, at time: Timestamp) -> Answer {
        guard let session = books.rows.sessions[session]?.settled(at: time) else {
            return .refused(Refusal(.unknownSession))
        }
        guard session.payee == payee else { return .refused(Refusal(.forbidden)) }
        switch session.state {
        case .created, .advertising, .locked: break
        case .paid: return .refused(Refusal(.sessionPaid))
        case .timedOut: return .refused(Refusal(.sessionExpired))
        case .cancelled: return .refused(Refusal(.sessionCancelled))
        }
        if let replaced, replaced != session.eid {
            guard let known = books.rows.retiredEIDs[replaced], known.session == session.id else {
                return .refused(Refusal(.unknownEID))
            }
            return .rotation(Rotation(session: session, replaced: known))
        }
        guard session.rotations < Self.limit else { return .refused(Refusal(.tooManyRotations)) }
        guard let eid = eids.first(where: { !books.rows.takenEIDs.contains($0) }) else {
            return .refused(Refusal(.noFreeEID))
        }
        let rotated = session.rotated(to: eid)
        let retired = RetiredEID(
            eid: session.eid,
            session: session.id,
            resolvesUntil: min(time.advanced(by: Self.overlap), session.expiresAt)
        )
        books.put(rotated, at: time)
        books.retire(retired)
        return .rotation(Rotation(session: rotated, replaced: retired))
    }
}
