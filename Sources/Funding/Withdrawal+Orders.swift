internal import GotchuCore
internal import Ledger

/// Actions of people on a withdrawal.
extension FundingDecision where Body == WithdrawalBody {
    /// Begins it: the money leaves the wallet. A development server's mint receives it at once.
    mutating func begin(at now: Timestamp) {
        let isMint = subject.body.account == nil
        book(
            .withdrawal,
            WithdrawalBody.taken(subject.id),
            .move(from: .user(subject.owner), to: .house(isMint ? .developmentMint : .withdrawals))
        )
        guard isMint else { return }
        subject.state = .paid
        subject.body.paidAt = now
        subject.refreshAt = nil
        event = .withdrawalPaid
    }

    /// Cancels it, if no call can have moved money yet.
    ///
    /// - Returns: False if it is too late.
    mutating func cancel(at now: Timestamp) -> Bool {
        guard subject.state == .pending, !subject.body.isCalled else { return false }
        returnToWallet()
        enter(.cancelled, at: now)
        subject.refreshAt = nil
        return true
    }

    /// Applies the operator's decision. A pending withdrawal can be stopped: at once if no call can
    /// have moved money, otherwise once it is certain that none has.
    ///
    /// - Returns: False if the decision is impossible in its state.
    mutating func decide(returning: Bool, at now: Timestamp) -> Bool {
        guard subject.state == .pending else { return resume(returning: returning, at: now) }
        guard returning else { return false }
        subject.body.reason = ProviderNotice(code: WithdrawalBody.stopped, message: "")
        guard subject.body.isCalled else {
            fail(at: now)
            return true
        }
        subject.body.attempts.requireSearch()
        subject.body.isReturnRequested = true
        subject.refreshAt = now
        return true
    }

    /// Resumes a held withdrawal: pays it out, or returns the money. An object is created only once
    /// it is certain that it does not exist yet. If the payout cannot be read, only the operator
    /// can know that the bank did not receive the money.
    ///
    /// - Returns: False if it is not held, or the decision is impossible.
    private mutating func resume(returning: Bool, at now: Timestamp) -> Bool {
        guard subject.state == .held, let before = subject.body.heldIn else { return false }
        switch before {
        // A payout that cannot be read cannot be searched for, either.
        case .sent where returning && subject.body.reason?.code == WithdrawalBody.unreadablePayout:
            enter(.returning, at: now)
        case .pending, .sent: enter(before, at: now)
        case .returning: enter(returning ? .returning : .sent, at: now)
        case .inTransit: enter(returning ? .returning : before, at: now)
        case .paid where !returning: enter(before, at: now)
        case .failed where returning, .cancelled where returning:
            subject.body.attempts.renew(at: now)
        case .paid, .failed, .cancelled, .held: return false
        }
        if subject.state == .sent, let payout = subject.body.payout {
            subject.body.pastPayouts.append(payout)
            subject.body.payout = nil
        }
        if subject.state == .sent || subject.state == .pending {
            subject.body.attempts.requireSearch()
        }
        subject.body.isReturnRequested = returning
        subject.refreshAt = now
        return true
    }

    /// Lets a new payee's withdrawal proceed.
    mutating func release(at now: Timestamp) {
        guard subject.body.needsRelease else { return }
        subject.body.needsRelease = false
        if subject.state == .pending { subject.refreshAt = now }
    }
}
