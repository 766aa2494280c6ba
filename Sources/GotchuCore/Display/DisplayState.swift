/// A state of the customer's display.
package enum DisplayState: String, CaseIterable, Codable, Sendable {
    /// Ready for a payment.
    case idle
    /// Payments cannot be taken.
    case closed
    /// The payment server is being asked for a session.
    case preparing
    /// On the air, or about to be again.
    case waiting
    /// A payer's phone has been noticed.
    case near
    /// A payer has locked the session.
    case confirming
    /// A payer has locked the session and not paid.
    case released
    case paid, expired, cancelled
    /// The end is not known; it is being asked for.
    case checking
    /// The session could not be made.
    case unavailable
    /// Nothing comes from gotchud. Only a display can know.
    case offline

    /// The silence of gotchud after which a display is `offline`, and that after which it is
    /// `closed`. The state comes every 5 s at least.
    package static let offlineDelay: Duration = .seconds(12)
    package static let closedDelay: Duration = .seconds(72)

    /// A Boolean that is true while the customer is asked to pay, and can.
    package var isAsking: Bool {
        switch self {
        case .preparing, .waiting, .near, .confirming: true
        case .idle, .closed, .released, .paid, .expired, .cancelled, .checking, .unavailable,
            .offline:
            false
        }
    }

    /// A Boolean that is true while a customer's payment may still end in one way or another.
    package var isUnsettled: Bool { isAsking || [.released, .checking, .offline].contains(self) }
}

/// A request as the display knows it.
package struct DisplayRequest: Equatable, Sendable {
    package enum Phase: Equatable, Sendable {
        case open, locked, paid, expired, cancelled, unknown
    }

    package let id: SessionID
    package let eid: EID
    package let phase: Phase
    package let amount: TippedAmount
    package let memo: String?
    /// The payee as the payer's phone shows it.
    package let payee: String?
    package let lifetime: Duration
    /// The expiry by this machine's clock.
    package let expiresAt: MonotonicTime
    package let isOnAir: Bool
    /// The time at which a payer's phone last came to the display.
    package let noticedAt: MonotonicTime?
    /// The address at which a browser pays it.
    package let payLink: String?
    /// The shares of a bill that several pay, or the places of a contest.
    package let shares: Shares?

    package enum Shares: Equatable, Sendable {
        case paid(Int64, of: Int64)
        /// The places of a contest that are left.
        case left(Int64)
    }

    package init(
        id: SessionID,
        eid: EID,
        phase: Phase,
        amount: TippedAmount,
        memo: String?,
        payee: String? = nil,
        lifetime: Duration,
        expiresAt: MonotonicTime,
        isOnAir: Bool,
        noticedAt: MonotonicTime? = nil,
        payLink: String? = nil,
        shares: Shares? = nil
    ) {
        self.id = id
        self.eid = eid
        self.phase = phase
        self.amount = amount
        self.memo = memo
        self.payee = payee
        self.lifetime = lifetime
        self.expiresAt = expiresAt
        self.isOnAir = isOnAir
        self.noticedAt = noticedAt
        self.payLink = payLink
        self.shares = shares
    }
}

/// The things that a customer is shown at one moment. Never the payer, a session's id, a balance or
/// an earlier customer's amount.
package struct DisplayView: Equatable, Sendable {
    package let state: DisplayState
    package var amount: TippedAmount?
    package var memo: String?
    package var payee: String?
    package var payLink: String?
    /// The shares of a bill that several pay, once one is paid.
    package var shares: DisplayRequest.Shares?
    /// The EID on the air, while the customer can compare it or scan its code.
    package var eid: EID?
    /// The end of the time to pay, and all of that time.
    package var ending: Ending?
    /// A Boolean that is true if the request has been off the air for longer than a change takes.
    package var isOffAir = false
    /// A Boolean that is true if the payment server does not answer.
    package var isServerSilent = false

    package init(_ state: DisplayState) {
        self.state = state
    }

    package struct Ending: Equatable, Sendable {
        package let at: MonotonicTime
        package let total: Duration
    }
}
