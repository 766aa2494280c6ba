package import GotchuCore

/// Something that a merchant's own systems are told about a session.
package struct SessionEvent: Equatable, Sendable {
    package let kind: Kind
    /// As it was right after.
    package let session: Session
    package let at: Timestamp
    /// With `refunded`: how much went back, in minor units.
    package let refund: Int64?

    /// One name for ever: a session's version is made once.
    package var id: String { "evt_\(session.id)_\(session.version)" }

    /// The raw values are stored and sent.
    package enum Kind: String, CaseIterable, Sendable {
        case paid = "session.paid"
        case refunded = "session.refunded"
        case expired = "session.expired"
        case cancelled = "session.cancelled"
    }

    /// - Returns: `nil` if the change from `old` is not one that anybody is told about.
    init?(from old: Session?, to new: Session, at time: Timestamp) {
        session = new
        at = time
        if let old, new.refunded > old.refunded {
            kind = .refunded
            refund = new.refunded - old.refunded
            return
        }
        guard old?.status != new.status else { return nil }
        refund = nil
        switch new.status {
        case .paid: kind = .paid
        case .timeout: kind = .expired
        case .cancelled: kind = .cancelled
        case .created, .advertising, .locked: return nil
        }
    }
}
