package import GotchuCore
package import Ledger

/// A payee's request for money, found by an EID and paid by one payer.
package struct Session: Equatable, Sendable {
    /// The stored name of its record kind.
    package static let kind = "session"
    /// The time for which a payer may hold the lock.
    package static let lease: Duration = .seconds(60)
    /// The allowed lifetimes, in seconds.
    package static let allowedSeconds = 1...300

    package let id: SessionID
    package var eid: EID
    package let payee: UserID
    package var amount: Money
    package let memo: String?
    /// The payee's own reference.
    package let reference: String?
    package let createdAt: Timestamp
    package let expiresAt: Timestamp
    package var state: State
    /// The version: 1 when created; grows by one with each change.
    package var version: Int64
    /// The number of changes of its EID.
    var rotations: Int64 = 0
    /// The tip in minor units, 0 until it is paid; `nil` if tips are not allowed.
    package var tip: Int64?
    /// The house's take of the amount in minor units, fixed at creation; `nil` for none.
    var take: Int64?
    /// The amount refunded to the payer, in minor units; never more than the total.
    package var refunded: Int64 = 0
    package var role: Role = .sole

    /// The states, each with the data that only it has.
    package enum State: Equatable, Sendable {
        case created
        case advertising
        case locked(by: UserID, until: Timestamp)
        case paid(by: UserID, at: Timestamp)
        case expired
        case cancelled
    }

    package var status: SessionStatus {
        switch state {
        case .created: .created
        case .advertising: .advertising
        case .locked: .locked
        case .paid: .paid
        case .expired: .expired
        case .cancelled: .cancelled
        }
    }

    /// Returns true for the payee, and for the payer who holds the lock or has paid.
    package func isVisible(to user: UserID) -> Bool { user == payee || user == payer }

    /// Returns the session as of `time`: expired, or unlocked because the lock has expired. Time
    /// changes a session only here.
    func asOf(_ time: Timestamp) -> Session {
        guard !status.isFinal else { return self }
        if time >= expiresAt { return changed(to: .expired) }
        if case .locked(_, let until) = state, time >= until { return changed(to: .advertising) }
        return self
    }

    /// Returns the next version, in another state.
    package func changed(to state: State) -> Session {
        var next = self
        next.state = state
        next.version += 1
        return next
    }

    /// Returns the next version, paid with a tip.
    ///
    /// - Throws: `tipNotAllowed`.
    func paid(by payer: UserID, tip: Int64, at time: Timestamp) throws(Refusal) -> Session {
        var next = changed(to: .paid(by: payer, at: time))
        guard tip != 0 else { return next }
        guard self.tip != nil, Money.allowedTip(on: amount.minorUnits).contains(tip) else {
            throw Refusal(.tipNotAllowed)
        }
        next.tip = tip
        return next
    }

    /// Returns the next version of a share, paid either to the payee or into a pot.
    func paid(by payer: UserID, into stake: Transfer.Key?, at time: Timestamp) -> Session {
        var next = changed(to: .paid(by: payer, at: time))
        if var share {
            share.stake = stake
            next.role = .share(share)
        }
        return next
    }

    /// Returns the next version of a share whose money the pot has returned.
    func returned() -> Session {
        var next = refunded(by: total - refunded)
        if var share {
            share.isReturned = true
            next.role = .share(share)
        }
        return next
    }

    /// Returns the next version, with a further amount refunded to the payer.
    func refunded(by amount: Int64) -> Session {
        var next = changed(to: state)
        next.refunded += amount
        return next
    }

    /// Returns the next version, with another EID.
    func rotated(to eid: EID) -> Session {
        var next = changed(to: state)
        next.eid = eid
        next.rotations += 1
        return next
    }
}

extension Session {
    /// The end of the lock, if a payer holds one.
    package var lockExpiresAt: Timestamp? {
        if case .locked(_, let until) = state { until } else { nil }
    }

    /// The payer who holds the lock or has paid, if any.
    package var payer: UserID? {
        switch state {
        case .locked(let payer, _), .paid(let payer, _): payer
        case .created, .advertising, .expired, .cancelled: nil
        }
    }

    /// The time of its payment, if it was paid.
    package var paidAt: Timestamp? {
        if case .paid(_, let time) = state { time } else { nil }
    }

    /// The refusal for any further payment, once the session has ended.
    package var finalReason: Refusal.Reason? {
        switch state {
        case .created, .advertising, .locked: nil
        case .paid: .sessionPaid
        case .expired: .sessionExpired
        case .cancelled: .sessionCancelled
        }
    }

    /// The amount with the tip, in minor units: the price for the payer.
    var total: Int64 { amount.minorUnits + (tip ?? 0) }

    /// Returns the tip part of one of its refunds; `nil` if it allows no tip.
    ///
    /// - Parameter total: The sum of refunds up to this one, in minor units.
    func tip(inRefund refund: Int64, total: Int64) -> Int64? {
        tip.map { _ in Self.tip(inRefund: refund, total: total, amount: amount.minorUnits) }
    }

    /// Returns the tip part of a refund, in minor units: the amount is refunded first.
    ///
    /// - Parameters:
    ///   - total: The sum of the session's refunds up to this one.
    ///   - amount: The session's amount, without its tip.
    package static func tip(inRefund refund: Int64, total: Int64, amount: Int64) -> Int64 {
        total > amount ? min(refund, total - amount) : 0
    }

    /// Returns the tip part of an entry of its payment or of one of its refunds; `nil` if it allows
    /// no tip.
    package func tip(in entry: Entry) -> Int64? {
        entry.kind == TransferKind.payment.name
            ? tip : tip(inRefund: abs(entry.amount), total: entry.transfer.refunded)
    }

    var recordID: RecordID { RecordID(trusted: id.rawValue) }

    /// Returns the unique name of an EID.
    package static func name(of eid: EID) -> String { "eid:\(eid)" }
}
