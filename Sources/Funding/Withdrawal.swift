package import GotchuCore
internal import Ledger

/// A payee's request to move money from their wallet to their bank: a transfer to their connected
/// account, then a payout from there.
package typealias Withdrawal = FundingRecord<WithdrawalBody>

package struct WithdrawalBody: RefreshableBody {
    package static let kind = "withdrawal"
    /// The longest wait for funds in the platform's balance.
    static let fundsWaitLimit: Duration = .seconds(14 * 24 * 3_600)
    /// The longest wait for funds in the connected account's balance.
    static let payoutWaitLimit: Duration = .seconds(7 * 24 * 3_600)
    /// The age of a withdrawal from which a newly seen transfer may be paid out already.
    static let oldTransferAge: Duration = .seconds(3_600)
    /// The time after which a paid payout is final.
    static let returnWindow: Duration = .seconds(10 * 24 * 3_600)
    /// The time without an answer after which an unreadable withdrawal is left to the operator.
    static let unansweredLimit: Duration = .seconds(30 * 24 * 3_600)
    /// The reason of a withdrawal stopped by the operator.
    static let stopped = "stopped_by_operator"
    /// The reason of a withdrawal whose payout cannot be read.
    static let unreadablePayout = "payout_unreadable"
    /// The most withdrawals of a user that are refreshed at once: each has its own calls.
    package static let limit = 50

    package enum State: String, CaseIterable, Codable, Sendable {
        /// Debited from the wallet; nothing has been transferred.
        case pending = "PENDING"
        /// Transferred to the connected account.
        case sent = "SENT"
        /// Being paid out to the bank.
        case inTransit = "IN_TRANSIT"
        case paid = "PAID"
        /// The transfer is to be reversed.
        case returning = "RETURNING"
        /// Ended, with the money back in the wallet.
        case failed = "FAILED"
        case cancelled = "CANCELLED"
        /// The operator must decide.
        case held = "HELD"

        /// A Boolean that is true while the money is neither at the bank nor in the wallet.
        package var isOpen: Bool {
            switch self {
            case .pending, .sent, .inTransit, .returning, .held: true
            case .paid, .failed, .cancelled: false
            }
        }
    }

    let minorUnits: Int64
    let currency: Currency
    /// `acct_…`; `nil` if a development server's mint receives the money.
    package let account: String?
    /// The bank account, `ba_…`; `nil` for the account's default.
    package let bankAccount: String?
    package var booked: [String: Int64] = [:]
    package internal(set) var transfer: String?
    package internal(set) var payout: String?
    /// Failed payouts that the operator has ordered again.
    var pastPayouts: [String] = []
    /// The reason why it waits, or why it failed.
    package internal(set) var reason: ProviderNotice?
    package internal(set) var arrivesAt: Timestamp?
    package internal(set) var paidAt: Timestamp?
    /// The time of the first unanswered call in this state since the last answer.
    package internal(set) var unansweredSince: Timestamp?
    /// A Boolean that is true until the operator releases a new payee's withdrawals.
    package internal(set) var needsRelease: Bool
    /// A Boolean that is true if a call may have moved money and has not been refused.
    var isCalled = false
    /// The time of the first refusal for lack of funds in the current state.
    var waitsSince: Timestamp?
    /// The state before it was held.
    var heldIn: State?
    /// A Boolean that is true once the operator wants the money returned to the wallet.
    var isReturnRequested = false
    var refreshCount = 0
    package internal(set) var refreshedAt: Timestamp?
    var attempts = CallAttempts()

    package var amount: Money { Money(minorUnits: minorUnits, currency: currency) }

    package func canBe(in state: State) -> Bool {
        minorUnits > 0 && minorUnits <= Pace.maximumAmount
            && (state == .held) == (heldIn != nil)
            && (transfer != nil || ![.sent, .inTransit, .returning].contains(state))
            && (payout != nil || state != .inTransit)
            && (state != .paid || paidAt != nil)
    }
}

extension FundingRecord where Body == WithdrawalBody {
    init(
        id: RecordID,
        user: UserID,
        amount: Money,
        account: String?,
        bankAccount: String?,
        needsRelease: Bool,
        at time: Timestamp
    ) {
        self.init(
            id: id,
            owner: user,
            createdAt: time,
            state: .pending,
            refreshAt: time,
            body: WithdrawalBody(
                minorUnits: amount.minorUnits,
                currency: amount.currency,
                account: account,
                bankAccount: bankAccount,
                needsRelease: needsRelease
            )
        )
    }

    private func key(_ call: String) -> String { "gotchu-\(id)-\(call)-\(body.attempts.attempt)" }

    /// The key of the call that it needs now; `nil` if it only reads.
    var key: String? {
        switch state {
        case .pending: key("transfer")
        case .sent: key("payout")
        case .returning: key("reversal")
        case .held: isReversedWhileHeld ? key("reversal") : nil
        case .inTransit, .paid, .failed, .cancelled: nil
        }
    }

    /// A Boolean that is true if the operator has ordered the return of a transfer that was
    /// discovered after the money was back in the wallet.
    var isReversedWhileHeld: Bool {
        state == .held && body.isReturnRequested
            && (body.heldIn == .failed || body.heldIn == .cancelled)
    }

    fileprivate func transferOrder(to account: String) -> TransferOrder {
        TransferOrder(
            withdrawal: id,
            user: owner,
            amount: amount,
            destination: account,
            key: key("transfer")
        )
    }

    fileprivate func payoutOrder(from account: String) -> PayoutOrder {
        PayoutOrder(
            withdrawal: id,
            amount: amount,
            account: account,
            bankAccount: body.bankAccount,
            createdAt: createdAt,
            key: key("payout")
        )
    }

    fileprivate func reversalOrder(of transfer: String) -> ReversalOrder {
        ReversalOrder(withdrawal: id, transfer: transfer, amount: amount, key: key("reversal"))
    }
}

extension Funding {
    /// Decides the effect of an observation on a withdrawal. Accepts any observation in any state.
    package static func next(
        _ withdrawal: Withdrawal,
        _ observation: Observation,
        at now: Timestamp
    ) -> FundingDecision<WithdrawalBody> {
        var decision = FundingDecision(withdrawal)
        decision.subject.body.unansweredSince = nil
        switch observation {
        case .transfer(let seen): decision.apply(seen, at: now)
        case .payout(let seen): decision.apply(seen, at: now)
        case .refused(let refusal): decision.applyRefusal(refusal, at: now)
        case .unknown(let delay):
            if withdrawal.refreshAt != nil {
                decision.subject.scheduleRefresh(
                    within: delay ?? Pace.retry(withdrawal.body.refreshCount),
                    at: now
                )
                decision.holdIfUnanswered(since: withdrawal.body.unansweredSince ?? now, at: now)
            }
        case .absent: decision.applyAbsence(at: now)
        case .deposit, .payee: break
        }
        return decision
    }

    /// Decides which call a withdrawal needs now, if any.
    static func planRefresh(
        of withdrawal: Withdrawal,
        at now: Timestamp
    ) -> FundingDecision<WithdrawalBody> {
        var decision = FundingDecision(withdrawal)
        let body = withdrawal.body
        guard let account = body.account else {
            decision.subject.refreshAt = nil
            return decision
        }
        switch withdrawal.state {
        case .pending where body.needsRelease:
            // If this ledger is an old backup, it may have been released and paid.
            decision.call = .findTransfer(withdrawal.transferOrder(to: account))
        case .pending:
            let isKeyGood = decision.subject.body.attempts.begin(at: now, of: withdrawal.createdAt)
            decision.subject.body.isCalled = true
            let order = withdrawal.transferOrder(to: account)
            decision.call = isKeyGood ? .sendTransfer(order) : .findTransfer(order)
        case .sent:
            let isKeyGood = decision.subject.body.attempts.begin(at: now, of: withdrawal.createdAt)
            let order = withdrawal.payoutOrder(from: account)
            decision.call = isKeyGood ? .sendPayout(order) : .findPayout(order)
        case .inTransit, .paid:
            decision.call = body.payout.map {
                .readPayout(PayoutReference(payout: $0, account: account))
            }
        case .returning:
            decision.call = body.transfer.map { .reverseTransfer(withdrawal.reversalOrder(of: $0)) }
        case .held:
            decision.call = body.transfer.map { transfer in
                withdrawal.isReversedWhileHeld
                    ? .reverseTransfer(withdrawal.reversalOrder(of: transfer))
                    : .readTransfer(transfer)
            }
        case .failed, .cancelled:
            decision.subject.refreshAt = nil
            // Still, an object at the provider may refer to it.
            if body.transfer == nil {
                decision.call = .findTransfer(withdrawal.transferOrder(to: account))
            }
        }
        if decision.subject.refreshAt != nil {
            let pace =
                switch withdrawal.state {
                case .paid: Pace.settled
                case .held: Pace.held
                case .pending where body.needsRelease: Pace.held
                case .pending, .sent, .inTransit, .returning, .failed, .cancelled:
                    Pace.open(body.refreshCount)
                }
            decision.subject.scheduleRefresh(within: pace, at: now)
        }
        return decision
    }
}

extension WithdrawalBody {
    /// The key of the fact that debits the wallet.
    static func taken(_ id: RecordID) -> String { "\(id):taken" }

    /// The key of the fact that returns the money to the wallet.
    static func returned(_ id: RecordID) -> String { "\(id):returned" }
}
