package import GotchuCore

/// A session as a payer who heard its EID may see it.
package struct PublishedSession: Equatable, Sendable {
    package let session: Session
    package let payeeName: String
    /// From when on the EID stands for nothing, if the session has another one by now.
    package let resolvesUntil: Timestamp?

    package init(session: Session, payeeName: String, resolvesUntil: Timestamp? = nil) {
        self.session = session
        self.payeeName = payeeName
        self.resolvesUntil = resolvesUntil
    }

    /// Whether the EID still stands for the session.
    package func resolves(at time: Timestamp) -> Bool {
        resolvesUntil.map { time < $0 } ?? true
    }
}
