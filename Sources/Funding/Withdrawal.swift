package import GotchuCore
internal import Ledger

/// A payee's wish to have money of their wallet at their bank: a transfer to their connected
/// account, then a payout from there.
package typealias Withdrawal = Subject<WithdrawalBody>

package struct WithdrawalBody: Particulars {
    package static let kind = "withdrawal"
    /// The time for which the platform's balance may not suffice.
    static let fundsPatience: Duration = .seconds(14 * 24 * 3_600)
    /// The time for which the connected account's balance may not suffice.
    static let payoutPatience: Duration = .seconds(7 * 24 * 3_600)
    /// The time after which a paid payout is final.
    static let returnPatience: Duration = .seconds(10 * 24 * 3_600)

    package enum State: String, CaseIterable, Codable, Sendable {
        /// Taken from the wallet; nothing has been transferred.
        case pending = "PENDING"
        /// At the connected account.
        case sent = "SENT"
        /// On the way to the bank.
        case inTransit = "IN_TRANSIT"
        case paid = "PAID"
        /// The transfer is to be reversed.
        case returning = "RETURNING"
        /// Over, and the money is back in the wallet.
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
    /// `acct_…`; `nil` if the development mint pays.
    package let account: String?
    /// `ba_…`; `nil` for the account's default one.
    package let bankAccount: String?
    package var booked: [String: Int64] = [:]
    package internal(set) var transfer: String?
    package internal(set) var payout: String?
    /// The reason why it waits, or for which it failed.
    package internal(set) var reason: ProviderNotice?
    package internal(set) var arrivesAt: Timestamp?
    package internal(set) var paidAt: Timestamp?
    /// A Boolean that is true until the operator releases a new payee's withdrawals.
    package internal(set) var needsRelease: Bool
    /// A Boolean that is true if a call that is not refused yet may have moved money.
    var isCalled = false
    /// The time of the first refusal for lack of funds in its present state.
    var waitsSince: Timestamp?
    /// The state that it had before it was held.
    package internal(set) var heldIn: State?
    var looks = 0
    package internal(set) var lookedAt: Timestamp?
    var tries = Tries()

    package var amount: Money { Money(minorUnits: minorUnits, currency: currency) }

    package func canBe(in state: State) -> Bool {
        minorUnits > 0 && minorUnits <= Pace.largestFact
            && (state == .held) == (heldIn != nil)
            && (transfer != nil || ![.sent, .inTransit, .returning].contains(state))
            && (payout != nil || state != .inTransit)
            && (state != .paid || paidAt != nil)
    }
}

extension Subject where Body == WithdrawalBody {
    /// A new withdrawal.
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
            lookAt: needsRelease ? nil : time,
            body: WithdrawalBody(
                minorUnits: amount.minorUnits,
                currency: amount.currency,
                account: account,
                bankAccount: bankAccount,
                needsRelease: needsRelease
            )
        )
    }

    private func key(_ call: String) -> String { "gotchu-\(id)-\(call)-\(body.tries.attempt)" }

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

    fileprivate mutating func lookAgain(within delay: Duration, at now: Timestamp) {
        body.looks += 1
        body.lookedAt = now
        lookAt = now.advanced(by: delay)
    }
}

/// The decisions about withdrawals.
extension Funding {
    /// Decides what an observation means for a withdrawal. Total: any observation in any state.
    package static func next(
        _ withdrawal: Withdrawal,
        _ observation: Observation,
        at now: Timestamp
    ) -> Next<WithdrawalBody> {
        var next = Next(withdrawal)
        switch observation {
        case .transfer(let seen): next.see(seen, at: now)
        case .payout(let seen): next.see(seen, at: now)
        case .refused(let refusal): next.refuse(refusal, at: now)
        case .unknown(let delay):
            if withdrawal.lookAt != nil {
                next.subject.lookAgain(
                    within: delay ?? Pace.retry(withdrawal.body.looks),
                    at: now
                )
            }
        case .absent: next.miss(at: now)
        case .deposit, .payee: break
        }
        return next
    }

    /// Decides which call a withdrawal needs now, if any.
    package static func look(at withdrawal: Withdrawal, now: Timestamp) -> Next<WithdrawalBody> {
        var next = Next(withdrawal)
        let body = withdrawal.body
        guard let account = body.account, !body.needsRelease else {
            next.subject.lookAt = nil
            return next
        }
        switch withdrawal.state {
        case .pending:
            let isKeyGood = next.subject.body.tries.begin(at: now)
            next.subject.body.isCalled = true
            let order = withdrawal.transferOrder(to: account)
            next.call = isKeyGood ? .sendTransfer(order) : .findTransfer(order)
        case .sent:
            let isKeyGood = next.subject.body.tries.begin(at: now)
            let order = withdrawal.payoutOrder(from: account)
            next.call = isKeyGood ? .sendPayout(order) : .findPayout(order)
        case .inTransit, .paid:
            next.call = body.payout.map {
                .readPayout(PayoutReference(payout: $0, account: account))
            }
        case .returning:
            next.call = body.transfer.map { .reverseTransfer(withdrawal.reversalOrder(of: $0)) }
        case .held:
            next.call = body.transfer.map { .readTransfer($0) }
        case .failed, .cancelled:
            next.subject.lookAt = nil
        }
        if next.subject.lookAt != nil {
            let pace =
                switch withdrawal.state {
                case .paid: Pace.settled
                case .held: Pace.slow
                case .pending, .sent, .inTransit, .returning, .failed, .cancelled:
                    Pace.open(body.looks)
                }
            next.subject.lookAgain(within: pace, at: now)
        }
        return next
    }
}

extension Next where Body == WithdrawalBody {
    // MARK: Transfers

    fileprivate mutating func see(_ seen: SeenTransfer, at now: Timestamp) {
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
            enter(.sent, at: now)
            if let reversal = seen.reversal {
                reverse(reversal, at: now)
            } else {
                callNext(at: now)
            }
        case .sent, .returning:
            if let reversal = seen.reversal {
                reverse(reversal, at: now)
            } else {
                subject.lookAgain(within: Pace.open(subject.body.looks), at: now)
            }
        case .held:
            // The operator has reversed it at the provider.
            if let reversal = seen.reversal, subject.body.transfer != nil,
                [.sent, .returning].contains(subject.body.heldIn)
            {
                reverse(reversal, at: now)
            }
        case .inTransit, .paid:
            if seen.reversal != nil { hold("transfer_reversed", seen.id, at: now) }
        case .failed, .cancelled:
            if subject.body.transfer == nil { hold("transfer_unexpected", seen.id, at: now) }
        }
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

    fileprivate mutating func see(_ seen: SeenPayout, at now: Timestamp) {
        guard [.sent, .inTransit, .paid].contains(subject.state) else { return }
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
                subject.lookAgain(within: Pace.open(subject.body.looks), at: now)
            }
        case .paid: pay(seen.id, at: now)
        case .failed, .canceled: bounce(seen, at: now)
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
        let end = subject.body.paidAt?.advanced(by: WithdrawalBody.returnPatience) ?? now
        subject.lookAt = now < end ? now.advanced(by: Pace.settled) : nil
    }

    private mutating func bounce(_ payout: SeenPayout, at now: Timestamp) {
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

    fileprivate mutating func refuse(_ refusal: ProviderRefusal, at now: Timestamp) {
        let notice = ProviderNotice(code: refusal.code, message: refusal.message)
        switch (subject.state, refusal.reason) {
        case (.failed, _), (.cancelled, _), (.held, _): break
        case (.paid, _):
            if subject.lookAt != nil { subject.lookAgain(within: Pace.settled, at: now) }
        case (.pending, .insufficientFunds):
            subject.body.isCalled = false
            wait(
                ProviderNotice(code: "waiting_for_funds", message: refusal.message),
                patience: WithdrawalBody.fundsPatience,
                at: now
            )
            if subject.body.waitsSince == nil {
                subject.body.reason = notice
                fail(at: now)
            }
        case (.sent, .insufficientFunds):
            wait(
                ProviderNotice(code: "waiting_for_payout", message: refusal.message),
                patience: WithdrawalBody.payoutPatience,
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

    /// Waits for funds, with another key; clears `waitsSince` once that has taken too long.
    private mutating func wait(
        _ reason: ProviderNotice,
        patience: Duration,
        at now: Timestamp
    ) {
        let since = subject.body.waitsSince ?? now
        guard now < since.advanced(by: patience) else {
            subject.body.waitsSince = nil
            return
        }
        subject.body.waitsSince = since
        subject.body.reason = reason
        subject.body.tries.renew()
        subject.lookAgain(within: Pace.slow, at: now)
    }

    fileprivate mutating func miss(at now: Timestamp) {
        guard [.pending, .sent].contains(subject.state), subject.lookAt != nil else { return }
        subject.lookAgain(within: subject.body.tries.isAbsent(), at: now)
    }

    // MARK: Steps

    private mutating func hold(_ code: String, _ message: String, at now: Timestamp) {
        guard subject.state != .held else { return }
        subject.body.heldIn = subject.state
        subject.body.reason = ProviderNotice(code: code, message: message)
        subject.state = .held
        subject.lookAt = now.advanced(by: Pace.slow)
        call = nil
    }

    /// Gives the money back to the wallet.
    private mutating func fail(at now: Timestamp) {
        giveBack()
        enter(.failed, at: now)
        subject.lookAt = nil
        event = .withdrawalFailed
    }

    fileprivate mutating func giveBack() {
        book(
            .withdrawalReturned,
            WithdrawalBody.returned(subject.id),
            .move(from: .house(.withdrawals), to: .user(subject.owner))
        )
    }

    private mutating func enter(_ state: WithdrawalBody.State, at now: Timestamp) {
        subject.state = state
        subject.body.heldIn = nil
        subject.body.waitsSince = nil
        subject.body.looks = 0
        subject.body.tries.renew()
        subject.lookAgain(within: Pace.open(0), at: now)
    }

    /// Decides the call of the state that was just entered.
    private mutating func callNext(at now: Timestamp) {
        let looked = Funding.look(at: subject, now: now)
        subject = looked.subject
        call = looked.call
    }

    private mutating func book(_ kind: TransferKind, _ fact: String, _ lines: Posting.Lines) {
        guard subject.body.booked[fact] == nil else { return }
        subject.body.booked[fact] = subject.amount.minorUnits
        postings.append(Posting(kind, fact, subject.amount.minorUnits, lines))
    }
}

extension WithdrawalBody {
    /// The fact with which the money leaves the wallet.
    static func taken(_ id: RecordID) -> String { "\(id):taken" }

    /// The fact with which it comes back.
    static func returned(_ id: RecordID) -> String { "\(id):returned" }
}

/// What people order of a withdrawal.
extension Next where Body == WithdrawalBody {
    /// Begins it: the money leaves the wallet. A development server's mint has it at once.
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
        subject.lookAt = nil
        event = .withdrawalPaid
    }

    /// Cancels it, if no call can have moved money.
    ///
    /// - Returns: False if it is too late.
    mutating func cancel(at now: Timestamp) -> Bool {
        guard subject.state == .pending, !subject.body.isCalled else { return false }
        giveBack()
        enter(.cancelled, at: now)
        subject.lookAt = nil
        return true
    }

    /// Goes on after the operator has decided: with the payout again, or with its return.
    ///
    /// - Returns: False if it is not held, or that cannot be done.
    mutating func resume(returning: Bool, at now: Timestamp) -> Bool {
        guard subject.state == .held, let before = subject.body.heldIn else { return false }
        switch before {
        case .pending where !returning: enter(.pending, at: now)
        case .sent, .returning: enter(returning ? .returning : .sent, at: now)
        case .inTransit where !returning: enter(.inTransit, at: now)
        case .pending, .inTransit, .paid, .failed, .cancelled, .held: return false
        }
        return true
    }

    /// Lets a new payee's withdrawal go on.
    mutating func release(at now: Timestamp) {
        guard subject.body.needsRelease else { return }
        subject.body.needsRelease = false
        if subject.state == .pending { subject.lookAt = now }
    }
}
