package import GotchuCore

/// Something that changes the books or a session, and when the server accepted it.
///
/// The time is part of the command: a payment accepted before its session ran out is good even if
/// it is decided and committed later.
package struct Command: Equatable, Sendable {
    package let acceptedAt: Timestamp
    package let action: Action

    package init(acceptedAt: Timestamp, action: Action) {
        self.acceptedAt = acceptedAt
        self.action = action
    }

    package enum Action: Equatable, Sendable {
        case openWallet(OpenWallet)
        case createSession(CreateSession)
        case lock(LockSession)
        case unlock(UnlockSession)
        case cancel(CancelSession)
        case rotate(RotateEID)
        case send(Send)
        case refund(Refund)
        case expire(SessionID)
        /// Writes something, to prove that the books can be written.
        case probe
    }
}

/// What a command came to.
package enum Answer: Equatable, Sendable {
    case user(User)
    case session(Session)
    case rotation(Rotation)
    case send(SendAnswer)
    case refund(RefundAnswer)
    case done
    case refused(Refusal)
    /// Not decided: another transaction holds a row that it needs.
    case held
}
