/// A state of the customer's display.
package enum DisplayState: String, CaseIterable, Codable, Sendable {
    /// Ready for a payment.
    case idle
    /// Payments are not possible.
    case closed
    /// A session is being requested from the payment server.
    case preparing
    /// Waiting for a payer. The request is on the air, except for interruptions.
    case waiting
    /// A payer's phone has been noticed.
    case near
    /// A payer has locked the session.
    case confirming
    /// A payer's lock has ended without a payment.
    case released
    case paid, expired, cancelled
    /// The outcome is unknown; the payment server is being asked for it.
    case checking
    /// The session could not be created.
    case unavailable
    /// The display receives nothing from gotchud. Set by the display itself.
    case offline

    /// The time without a message from gotchud after which a display shows `offline`, and the time
    /// after which it shows `closed`. gotchud sends the state at least every 5 s.
    package static let offlineDelay: Duration = .seconds(12)
    package static let closedDelay: Duration = .seconds(72)

    /// A Boolean that is true while a payment is prepared, awaited or made.
    package var isAwaitingPayment: Bool {
        switch self {
        case .preparing, .waiting, .near, .confirming: true
        case .idle, .closed, .released, .paid, .expired, .cancelled, .checking, .unavailable,
            .offline:
            false
        }
    }

    /// A Boolean that is true while the outcome of a customer's payment may still be open.
    package var isUnsettled: Bool {
        isAwaitingPayment || [.released, .checking, .offline].contains(self)
    }
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
    /// The time at which a payer's phone was last noticed at the display.
    package let noticedAt: MonotonicTime?
    /// The URL at which it can be paid in a browser.
    package let payLink: String?
    /// The shares of a split bill, or the places of a contest.
    package let shares: Shares?

    package enum Shares: Equatable, Sendable {
        case paid(Int64, of: Int64)
        /// The number of places left in a contest.
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

/// The content of the display at one moment. Never contains the payer, a session's id, a balance or
/// an earlier customer's amount.
package struct DisplayView: Equatable, Sendable {
    package let state: DisplayState
    package var amount: TippedAmount?
    package var memo: String?
    package var payee: String?
    package var payLink: String?
    /// The shares of a split bill once one is paid, or the places left in a contest.
    package var shares: DisplayRequest.Shares?
    /// The request's EID; set while the customer can compare it or scan its code.
    package var eid: EID?
    /// The end of the time to pay, and its total length.
    package var countdown: Countdown?
    /// A Boolean that is true if the request has been off the air for longer than is normal.
    package var isOffAir = false
    /// A Boolean that is true if the payment server does not answer.
    package var isServerUnresponsive = false

    package init(_ state: DisplayState) {
        self.state = state
    }

    package struct Countdown: Equatable, Sendable {
        package let at: MonotonicTime
        package let total: Duration
    }
}
