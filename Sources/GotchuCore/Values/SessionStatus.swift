/// The state of a session, as the payment server decided it.
///
/// CREATED → ADVERTISING → LOCKED → PAID. From LOCKED back to ADVERTISING if the lock ends without
/// a payment. TIMEOUT from any state but PAID and CANCEL when the session expires. CANCEL by the
/// payee from CREATED or ADVERTISING.
package enum SessionStatus: String, Codable, CaseIterable, Sendable {
    case created = "CREATED"
    case advertising = "ADVERTISING"
    case locked = "LOCKED"
    case paid = "PAID"
    case expired = "TIMEOUT"
    case cancelled = "CANCEL"

    /// A Boolean that is true if the state is final.
    package var isFinal: Bool {
        switch self {
        case .paid, .expired, .cancelled: true
        case .created, .advertising, .locked: false
        }
    }
}
