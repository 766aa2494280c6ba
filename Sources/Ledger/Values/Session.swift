package import GotchuCore

/// The record of one request for payment.
package struct Session: Equatable, Sendable {
    /// How long a lock is held at most; it never outlives the session.
    package static let lease: Duration = .seconds(60)
    /// How long a session may be asked to live.
    package static let allowedSeconds = 1...300

    package let id: SessionID
    /// The present one.
    package var eid: EID
    package let payee: UserID
    package let amount: Money
    package let memo: String?
    /// The payee's own name for it.
    package let reference: String?
    package let createdAt: Timestamp
    package let expiresAt: Timestamp
    package var state: State
    /// 1 when made; grows by one with each change.
    package var version: Int64
    /// How often it got another EID.
    package var rotations: Int64
    /// What has gone back to the payer, in minor units; never more than the amount.
    package var refunded: Int64

    package init(
        id: SessionID,
        eid: EID,
        payee: UserID,
        amount: Money,
        memo: String?,
        reference: String?,
        createdAt: Timestamp,
        expiresAt: Timestamp,
        state: State,
        version: Int64,
        rotations: Int64 = 0,
        refunded: Int64 = 0
    ) {
        self.id = id
        self.eid = eid
        self.payee = payee
        self.amount = amount
        self.memo = memo
        self.reference = reference
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.state = state
        self.version = version
        self.rotations = rotations
        self.refunded = refunded
    }

    /// Where it stands, with what only that state has.
    package enum State: Equatable, Sendable {
        case created
        case advertising
        case locked(by: UserID, until: Timestamp)
        case paid(by: UserID, at: Timestamp)
        case timedOut
        case cancelled
    }

    package var status: SessionStatus {
        switch state {
        case .created: .created
        case .advertising: .advertising
        case .locked: .locked
        case .paid: .paid
        case .timedOut: .timeout
        case .cancelled: .cancelled
        }
    }

    /// Whether `user` may see its details: the payee, and the payer who holds the lock or has paid.
    package func isVisible(to user: UserID) -> Bool {
        if user == payee { return true }
        return switch state {
        case .locked(let payer, _), .paid(let payer, _): payer == user
        case .created, .advertising, .timedOut, .cancelled: false
        }
    }

    /// The same session as it is at `time`: a session that has run out is over, and a lock that has
    /// lapsed gives it back. This is the only place where time changes a session.
    package func settled(at time: Timestamp) -> Session {
        guard !status.isFinal else { return self }
        if time >= expiresAt { return changed(to: .timedOut) }
        if case .locked(_, let until) = state, time >= until { return changed(to: .advertising) }
        return self
    }

    /// The next version of it, in another state.
    package func changed(to state: State) -> Session {
        var next = self
        next.state = state
        next.version += 1
        return next
    }

    /// The next version of it, with more gone back to the payer.
    ///
    /// - Precondition: It is paid, and so much is left.
    package func refunded(by amount: Int64) -> Session {
        precondition(status == .paid && (1...self.amount.minorUnits - refunded).contains(amount))
        var next = changed(to: state)
        next.refunded += amount
        return next
    }

    /// The next version of it, under another EID.
    package func rotated(to eid: EID) -> Session {
        var next = changed(to: state)
        next.eid = eid
        next.rotations += 1
        return next
    }
}

extension Session {
    /// Until when a payer holds it, if one does.
    package var lockExpiresAt: Timestamp? {
        if case .locked(_, let until) = state { until } else { nil }
    }

    /// Who holds it or has paid it, if somebody does or has.
    package var payer: UserID? {
        switch state {
        case .locked(let payer, _), .paid(let payer, _): payer
        case .created, .advertising, .timedOut, .cancelled: nil
        }
    }

    /// When it was paid, if it was.
    package var paidAt: Timestamp? {
        if case .paid(_, let time) = state { time } else { nil }
    }
}
