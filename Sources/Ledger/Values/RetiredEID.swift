package import GotchuCore

/// An EID that a session had before its present one. A payer who heard it may use it a while yet.
package struct RetiredEID: Equatable, Sendable {
    package let eid: EID
    package let session: SessionID
    /// From then on it stands for nothing.
    package let resolvesUntil: Timestamp

    package init(eid: EID, session: SessionID, resolvesUntil: Timestamp) {
        self.eid = eid
        self.session = session
        self.resolvesUntil = resolvesUntil
    }
}
