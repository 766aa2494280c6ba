internal import GotchuCore
internal import Ledger

/// The effects of observations on a withdrawal.
extension FundingDecision where Body == WithdrawalBody {
    // MARK: Transfers

    mutating func apply(_ seen: SeenTransfer, at now: Timestamp) {
        let isOurs =
            seen.amount == subject.amount.minorUnits
            && seen.currency.lowercased() == subject.amount.currency.rawValue
            && seen.destination == subject.body.account
            && (subject.body.transfer ?? seen.id) == seen.id
        guard isOurs else { return hold("transfer_differs", seen.id, at: now) }
        switch subject.state {
        case .pending:
            subject.body.transfer = seen.id
            book(
                .payoutSent,
                seen.id,
                .move(from: .house(.stripePayouts), to: .house(.stripeBalance))
            )
            // A replayed answer does not show the age of the transfer.
            let isOld =
                subject.body.attempts.isSearching || subject.body.needsRelease
                || now >= subject.createdAt.advanced(by: WithdrawalBody.oldTransferAge)
            subject.body.needsRelease = false
            enter(.sent, at: now)
            // The payout or the reversal of an old transfer may exist already.
            if isOld || subject.body.isReturnRequested { subject.body.attempts.requireSearch() }
            if let reversal = seen.reversal {
                reverse(reversal, at: now)
            } else {
                callNext(at: now)
            }
        case .sent, .returning:
            if let reversal = seen.reversal {
                reverse(reversal, at: now)
            } else {
                subject.scheduleRefresh(within: Pace.open(subject.body.refreshCount), at: now)
            }
        case .held:
            guard let reversal = seen.reversal, subject.body.transfer != nil else { return }
            // The operator has ordered the reversal, or has made it at the provider.
            switch subject.body.heldIn {
            case .sent, .returning: reverse(reversal, at: now)
            case .failed, .cancelled: settle(seen.id, reversal, at: now)
            case .pending, .inTransit, .paid, .held, nil: break
            }
        case .inTransit, .paid:
            if seen.reversal != nil { hold("transfer_reversed", seen.id, at: now) }
        case .failed, .cancelled:
            if subject.body.transfer == nil {
                subject.body.transfer = seen.id
                hold("transfer_unexpected", seen.id, at: now)
            }
        }
    }

    /// Ends a withdrawal again that was over before its transfer was discovered.
    private mutating func settle(_ transfer: String, _ reversal: String, at now: Timestamp) {
        guard let end = subject.body.heldIn else { return }
        let (balance, payouts) = (HouseAccount.stripeBalance, HouseAccount.stripePayouts)
        book(.payoutSent, transfer, .move(from: .house(payouts), to: .house(balance)))
        book(.payoutReversed, reversal, .move(from: .house(balance), to: .house(payouts)))
        enter(end, at: now)
        subject.refreshAt = nil
    }

    private mutating func reverse(_ reversal: String, at now: Timestamp) {
        book(
            .payoutReversed,
            reversal,
            .move(from: .house(.stripeBalance), to: .house(.stripePayouts))
        )
        fail(at: now)
    }

    // MARK: Payouts

    mutating func apply(_ seen: SeenPayout, at now: Timestamp) {
        guard [.sent, .inTransit, .paid].contains(subject.state),
            !subject.body.pastPayouts.contains(seen.id)
        else { return }
        let isOurs =
            seen.amount == subject.amount.minorUnits
            && seen.currency.lowercased() == subject.amount.currency.rawValue
            && (subject.body.payout ?? seen.id) == seen.id
        guard isOurs else { return hold("payout_differs", seen.id, at: now) }
        if subject.state == .sent {
            subject.body.payout = seen.id
            enter(.inTransit, at: now)
        }
        subject.body.arrivesAt = seen.arrivesAt ?? subject.body.arrivesAt
        switch seen.status {
        case .pending, .inTransit:
            if subject.state == .inTransit {
                subject.scheduleRefresh(within: Pace.open(subject.body.refreshCount), at: now)
            }
        case .paid: pay(seen.id, at: now)
        case .failed, .canceled: failPayout(seen, at: now)
        }
    }

    private mutating func pay(_ payout: String, at now: Timestamp) {
        if subject.state == .inTransit {
            book(
                .payoutPaid,
                "\(payout):paid",
                .move(from: .house(.withdrawals), to: .house(.stripePayouts))
            )
            subject.body.paidAt = now
            subject.body.reason = nil
            enter(.paid, at: now)
            event = .withdrawalPaid
        }
        subject.refreshAt = isFinal(at: now) ? nil : now.advanced(by: Pace.settled)
    }

    /// Returns true once a paid payout can no longer be returned.
    private func isFinal(at now: Timestamp) -> Bool {
        subject.body.paidAt.map { now >= $0.advanced(by: WithdrawalBody.returnWindow) } ?? true
    }

    private mutating func failPayout(_ payout: SeenPayout, at now: Timestamp) {
        if subject.state == .paid {
            book(
                .payoutFailed,
                "\(payout.id):back",
                .move(from: .house(.stripePayouts), to: .house(.withdrawals))
            )
        }
        subject.body.reason =
            payout.failure
            ?? ProviderNotice(code: "payout_\(payout.status.rawValue)", message: "")
        enter(.returning, at: now)
        callNext(at: now)
    }

    // MARK: Refusals

    mutating func applyRefusal(_ refusal: ProviderRefusal, at now: Timestamp) {
        let notice = ProviderNotice(code: refusal.code, message: refusal.message)
        switch (subject.state, refusal.reason) {
        case (.failed, _), (.cancelled, _), (.held, _): break
        case (.paid, _):
            if subject.refreshAt != nil { subject.scheduleRefresh(within: Pace.settled, at: now) }
        case (.pending, .insufficientFunds)
        where subject.body.isReturnRequested && !refusal.isReplay:
            fail(at: now)
        case (.pending, .insufficientFunds):
            // A replayed refusal says nothing about later calls: one of them may have moved money.
            subject.body.isCalled = refusal.isReplay
            wait(
                "waiting_for_funds",
                refusal,
                limit: WithdrawalBody.fundsWaitLimit,
                at: now
            )
            if subject.body.waitsSince == nil {
                subject.body.reason = notice
                fail(at: now)
            }
        case (.sent, .insufficientFunds):
            wait(
                "waiting_for_payout",
                refusal,
                limit: WithdrawalBody.payoutWaitLimit,
                at: now
            )
            if subject.body.waitsSince == nil {
                subject.body.reason = notice
                enter(.returning, at: now)
                callNext(at: now)
            }
        case (_, .keyReused), (.returning, _), (.inTransit, _):
            hold(refusal.code, refusal.message, at: now)
        case (.pending, .other):
            subject.body.reason = notice
            fail(at: now)
        case (.sent, .other):
            subject.body.reason = notice
            enter(.returning, at: now)
            callNext(at: now)
        }
    }

    /// Schedules a retry with another key. If the wait has taken too long, clears `waitsSince`
    /// instead.
    private mutating func wait(
        _ reason: String,
        _ refusal: ProviderRefusal,
        limit: Duration,
        at now: Timestamp
    ) {
        let since = subject.body.waitsSince ?? now
        guard now < since.advanced(by: limit) else {
            subject.body.waitsSince = nil
            return
        }
        subject.body.waitsSince = since
        subject.body.reason = ProviderNotice(code: reason, message: refusal.message)
        subject.body.attempts.renew(at: refusal.isReplay ? nil : now)
        subject.scheduleRefresh(within: Pace.slow, at: now)
    }

    mutating func applyAbsence(at now: Timestamp) {
        guard [.pending, .sent].contains(subject.state), subject.refreshAt != nil,
            !subject.body.needsRelease, subject.confirmAbsence(at: now)
        else { return }
        guard subject.body.isReturnRequested else { return subject.retryWithNewKey(at: now) }
        // Nothing was created, and nothing will be.
        if subject.state == .pending { return fail(at: now) }
        enter(.returning, at: now)
        callNext(at: now)
    }

    /// Leaves a withdrawal to the operator if calls about it are unanswered for too long, for
    /// example because the account is closed to us.
    mutating func holdIfUnanswered(since start: Timestamp, at now: Timestamp) {
        // Withdrawals that wait for a release need no answer yet.
        subject.body.unansweredSince = subject.body.needsRelease ? nil : start
        let isTooLong = now >= start.advanced(by: WithdrawalBody.unansweredLimit)
        switch subject.state {
        case .pending where isTooLong, .returning where isTooLong:
            hold("transfer_unreadable", "", at: now)
        case .sent where isTooLong, .inTransit where isTooLong:
            hold(WithdrawalBody.unreadablePayout, "", at: now)
        case .paid where isFinal(at: now): subject.refreshAt = nil
        case .pending, .sent, .inTransit, .paid, .returning, .failed, .cancelled, .held: break
        }
    }

    // MARK: Steps

    private mutating func hold(_ code: String, _ message: String, at now: Timestamp) {
        guard subject.state != .held else { return }
        subject.body.heldIn = subject.state
        subject.body.reason = ProviderNotice(code: code, message: message)
        subject.state = .held
        subject.refreshAt = now.advanced(by: Pace.held)
        call = nil
    }

    /// Ends it as failed and returns the money to the wallet.
    mutating func fail(at now: Timestamp) {
        returnToWallet()
        enter(.failed, at: now)
        subject.refreshAt = nil
        event = .withdrawalFailed
    }

    mutating func returnToWallet() {
        subject.body.needsRelease = false
        book(
            .withdrawalReturned,
            WithdrawalBody.returned(subject.id),
            .move(from: .house(.withdrawals), to: .user(subject.owner))
        )
    }

    mutating func enter(_ state: WithdrawalBody.State, at now: Timestamp) {
        subject.state = state
        subject.body.heldIn = nil
        subject.body.waitsSince = nil
        subject.body.unansweredSince = nil
        subject.body.refreshCount = 0
        subject.body.attempts.renew(at: now)
        subject.scheduleRefresh(within: Pace.open(0), at: now)
    }

    /// Decides the call for the state that was just entered.
    private mutating func callNext(at now: Timestamp) {
        let decision = Funding.planRefresh(of: subject, at: now)
        subject = decision.subject
        call = decision.call
    }

    mutating func book(_ kind: TransferKind, _ fact: String, _ lines: Posting.Lines) {
        guard subject.body.booked[fact] == nil else { return }
        subject.body.booked[fact] = subject.amount.minorUnits
        postings.append(Posting(kind, fact, subject.amount.minorUnits, lines))
    }
}
