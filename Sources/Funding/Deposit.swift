package import GotchuCore
internal import Ledger

/// A payer's request to fill their wallet from a card: an intent.
package typealias Deposit = FundingRecord<DepositBody>

package struct DepositBody: RefreshableBody {
    package static let kind = "deposit"
    /// The time within which it must be paid.
    static let lifetime: Duration = .seconds(2 * 3_600)
    /// The time after which a deposit that the provider does not know is cancelled: nobody received
    /// its secret.
    static let creationLimit: Duration = .seconds(80 * 60)
    /// The time for which the fee of a charge is polled; later an event reports it.
    static let feePollingLimit: Duration = .seconds(3_600)
    /// The most facts that one deposit can have.
    static let factLimit = 200

    /// The states. The raw values are stored and, except for `held`, sent.
    package enum State: String, CaseIterable, Sendable {
        /// Not known to the provider yet.
        case created = "CREATED"
        case requiresPaymentMethod = "REQUIRES_PAYMENT_METHOD"
        case requiresConfirmation = "REQUIRES_CONFIRMATION"
        case requiresAction = "REQUIRES_ACTION"
        case processing = "PROCESSING"
        case succeeded = "SUCCEEDED"
        case failed = "FAILED"
        case canceled = "CANCELED"
        /// Paid, but not as ordered: nothing is booked until the operator has decided.
        case held = "HELD"

        /// A Boolean that is true while it can be paid.
        package var isOpen: Bool {
            switch self {
            case .created, .requiresPaymentMethod, .requiresConfirmation, .requiresAction,
                .processing:
                true
            case .succeeded, .failed, .canceled, .held: false
            }
        }
    }

    let minorUnits: Int64
    let currency: Currency
    /// The payer's own reference.
    package let reference: String?
    package let presentation: Presentation
    package let expiresAt: Timestamp
    /// A Boolean that is true if it is real money.
    package let isLive: Bool
    /// The user who ordered it, if the operator had it adopted for another one.
    var orderedBy: UserID?
    package internal(set) var intent: String?
    package internal(set) var checkout: String?
    package var booked: [String: Int64] = [:]
    package internal(set) var error: ProviderNotice?
    package internal(set) var creditedAt: Timestamp?
    /// A Boolean that is true once the payer has requested its cancellation.
    var isCancellationRequested = false
    /// The amount received but not as ordered, if it can be booked; in the ordered currency.
    package internal(set) var received: Int64?
    /// The money received that cannot be booked: in another currency or mode, or too much.
    package internal(set) var unbookable: ReceivedMoney?
    /// A Boolean that is true once the operator has accepted the received amount.
    var isAccepted = false
    var refreshCount = 0
    package internal(set) var refreshedAt: Timestamp?
    var attempts = CallAttempts()

    /// A Boolean that is true once the fee of its charge is booked, or known to be zero.
    var isFeeKnown = false
    /// A Boolean that is true if a dispute has taken money and may still be won; `nil` if no
    /// disputes were seen, or only by a program that did not store this.
    var isDisputed: Bool?

    /// A Boolean that is true if money that a dispute has taken may come back, as far as is known.
    package var mayBeReturned: Bool {
        isDisputed
            ?? booked.keys.contains { fact in
                fact.hasSuffix(":out") && booked["\(fact.dropLast(4)):in"] == nil
            }
    }

    package var amount: Money { Money(minorUnits: minorUnits, currency: currency) }

    package func canBe(in state: State) -> Bool {
        Money.allowedRequest.contains(amount.minorUnits)
            && (state == .succeeded) == (creditedAt != nil)
            && (state == .succeeded || booked.isEmpty)
            && booked.values.allSatisfy { $0 != 0 && $0.magnitude <= Pace.maximumAmount }
    }
}

extension FundingRecord where Body == DepositBody {
    /// Creates a deposit that the provider does not know yet.
    init(
        id: RecordID,
        user: UserID,
        amount: Money,
        reference: String?,
        presentation: Presentation,
        isLive: Bool,
        at time: Timestamp
    ) {
        self.init(
            id: id,
            owner: user,
            createdAt: time,
            state: .created,
            refreshAt: time.advanced(by: Pace.handover),
            body: DepositBody(
                minorUnits: amount.minorUnits,
                currency: amount.currency,
                reference: reference,
                presentation: presentation,
                expiresAt: time.advanced(by: DepositBody.lifetime),
                isLive: isLive
            )
        )
    }

    /// The amount that its credit (D1) books, in minor units.
    var creditedAmount: Int64 {
        body.isAccepted ? body.received ?? amount.minorUnits : amount.minorUnits
    }

    var order: DepositOrder {
        DepositOrder(
            deposit: id,
            user: owner,
            amount: amount,
            reference: body.reference,
            presentation: body.presentation,
            createdAt: createdAt,
            expiresAt: body.expiresAt,
            key: key
        )
    }

    /// The idempotency key of the call that opens it.
    var key: String { "gotchu-\(id)-intent-\(body.attempts.attempt)" }

    /// A Boolean that is true if the operator has dropped it although money was received.
    package var isDropped: Bool { state == .canceled && body.unbookable != nil }

    /// A Boolean that is true if it is still refreshed, but can no longer be paid.
    package var isSettledAndRefreshed: Bool { refreshAt != nil && !state.isOpen }

    var providerReference: DepositReference? {
        guard body.intent != nil || body.checkout != nil else { return nil }
        return DepositReference(deposit: id, intent: body.intent, checkout: body.checkout)
    }
}

extension Funding {
    /// Decides the effect of an observation on a deposit. Accepts any observation in any state.
    package static func next(
        _ deposit: Deposit,
        _ observation: Observation,
        at now: Timestamp
    ) -> FundingDecision<DepositBody> {
        var decision = FundingDecision(deposit)
        switch observation {
        case .deposit(let seen): decision.apply(seen, at: now)
        case .refused(let refusal): decision.applyRefusal(refusal, at: now)
        case .absent: decision.applyAbsence(at: now)
        case .unknown(let delay):
            // A closed deposit is refreshed because of an event: retry until the provider answers.
            let delay = delay ?? Pace.retry(deposit.body.refreshCount)
            decision.subject.scheduleRefresh(within: delay, at: now)
            decision.endUnlessKnown(at: now)
        case .payee, .transfer, .payout: break
        }
        return decision
    }

    /// Decides which call a deposit needs now, if any.
    static func planRefresh(
        of deposit: Deposit,
        at now: Timestamp
    ) -> FundingDecision<DepositBody> {
        var decision = FundingDecision(deposit)
        guard let reference = deposit.providerReference else {
            switch deposit.state {
            case .created:
                decision.call =
                    decision.subject.body.attempts.begin(at: now, of: deposit.createdAt)
                    ? .openDeposit(deposit.order) : .findDeposit(deposit.order)
                let retry = Pace.retry(deposit.body.refreshCount)
                decision.subject.scheduleRefresh(within: retry, at: now)
            case .held:
                decision.call = .findDeposit(deposit.order)
                decision.subject.scheduleRefresh(within: Pace.held, at: now)
            case .requiresPaymentMethod, .requiresConfirmation, .requiresAction, .processing,
                .succeeded, .failed, .canceled:
                // Still, an object at the provider may refer to a canceled deposit.
                if deposit.state == .canceled { decision.call = .findDeposit(deposit.order) }
                decision.subject.refreshAt = nil
            }
            return decision
        }
        let isOver = deposit.body.isCancellationRequested || now >= deposit.body.expiresAt
        decision.call =
            isOver && deposit.state.isOpen && deposit.state != .processing
            ? .endDeposit(reference) : .readDeposit(reference)
        if deposit.refreshAt != nil {
            let delay = deposit.state == .held ? Pace.held : Pace.open(deposit.body.refreshCount)
            decision.subject.scheduleRefresh(within: delay, at: now)
        }
        return decision
    }
}

extension FundingDecision where Body == DepositBody {
    /// Pays the deposit from a development server's mint.
    mutating func mint(_ fact: String, at now: Timestamp) {
        subject.state = .succeeded
        subject.body.creditedAt = now
        subject.refreshAt = nil
        book(
            .deposit,
            fact,
            subject.amount.minorUnits,
            .move(from: .house(.developmentMint), to: .user(subject.owner))
        )
    }

    fileprivate mutating func apply(_ seen: SeenDeposit, at now: Timestamp) {
        let isOurs =
            seen.deposit == subject.id.rawValue
            && (subject.body.intent == nil || seen.intent == nil
                || seen.intent == subject.body.intent)
        guard isOurs || subject.body.isAccepted else {
            if seen.status == .succeeded { hold(seen, at: now) }
            return
        }
        let before = subject.state
        subject.body.intent = seen.intent ?? subject.body.intent
        subject.body.checkout = seen.checkout ?? subject.body.checkout
        subject.body.error = seen.error
        switch seen.status {
        case .succeeded: succeed(seen, at: now)
        case .canceled:
            let isNothing =
                before == .held && subject.body.received == nil && subject.body.unbookable == nil
            if before.isOpen || isNothing { enter(.canceled) }
        case .requiresPaymentMethod: if before.isOpen { enter(.requiresPaymentMethod) }
        case .requiresConfirmation: if before.isOpen { enter(.requiresConfirmation) }
        case .requiresAction: if before.isOpen { enter(.requiresAction) }
        case .processing: if before.isOpen { enter(.processing) }
        }
        switch subject.state {
        case .created, .requiresPaymentMethod, .requiresConfirmation, .requiresAction, .processing:
            if subject.state != before { subject.body.refreshCount = 0 }
            subject.scheduleRefresh(within: Pace.open(subject.body.refreshCount), at: now)
            scheduleEnd(at: now)
        case .failed, .canceled: subject.refreshAt = nil
        case .succeeded, .held: break
        }
    }

    /// Refreshes it at its expiry at the latest. If its cancellation was requested, ends it now.
    private mutating func scheduleEnd(at now: Timestamp) {
        guard subject.state != .processing, let refreshAt = subject.refreshAt else { return }
        if subject.body.isCancellationRequested {
            if let reference = subject.providerReference, call == nil {
                call = .endDeposit(reference)
            }
        } else if subject.body.expiresAt > now {
            subject.refreshAt = min(refreshAt, subject.body.expiresAt)
        }
    }

    private mutating func enter(_ state: DepositBody.State) {
        subject.state = state
        if !state.isOpen { subject.refreshAt = nil }
    }

    private mutating func hold(_ seen: SeenDeposit, at now: Timestamp) {
        guard subject.state != .succeeded else { return }
        if seen.currency.lowercased() == subject.amount.currency.rawValue,
            seen.isLive == subject.body.isLive, Money.allowedRequest.contains(seen.amount)
        {
            if subject.body.received != seen.amount { subject.body.isAccepted = false }
            subject.body.received = seen.amount
        } else {
            let money = ReceivedMoney(amount: seen.amount, currency: seen.currency.lowercased())
            // Dropped deposits stay dropped unless other money is received.
            guard !subject.isDropped || subject.body.unbookable != money else {
                return subject.refreshAt = nil
            }
            subject.body.unbookable = money
        }
        hold(at: now)
    }

    /// Waits for the operator, and refreshes periodically in case something has changed.
    private mutating func hold(at now: Timestamp) {
        subject.state = .held
        subject.refreshAt = now.advanced(by: Pace.held)
    }

    private mutating func succeed(_ seen: SeenDeposit, at now: Timestamp) {
        guard let intent = seen.intent, seen.isLive == subject.body.isLive,
            seen.currency.lowercased() == subject.amount.currency.rawValue,
            seen.amount == subject.creditedAmount
        else { return hold(seen, at: now) }
        if subject.state != .succeeded {
            subject.body.creditedAt = now
            subject.body.refreshCount = 0
            subject.state = .succeeded
        }
        book(.deposit, intent, subject.creditedAmount, .credit(subject.owner))
        if let charge = seen.charge { book(charge) }
        let isWaiting =
            !subject.body.isFeeKnown
            && now < subject.body.creditedAt.map { $0.advanced(by: DepositBody.feePollingLimit) }
                ?? now
        subject.refreshAt = nil
        if isWaiting {
            subject.scheduleRefresh(within: Pace.open(subject.body.refreshCount), at: now)
        }
    }

    fileprivate mutating func applyRefusal(_ refusal: ProviderRefusal, at now: Timestamp) {
        let notice = ProviderNotice(code: refusal.code, message: refusal.message)
        switch (subject.state, refusal.reason) {
        case (.created, .keyReused):
            subject.body.error = notice
            hold(at: now)
        case (.created, _):
            subject.body.error = notice
            enter(.failed)
        default:
            // A read or a cancellation was refused: the object itself will show its state.
            if subject.refreshAt != nil {
                subject.scheduleRefresh(within: Pace.open(subject.body.refreshCount), at: now)
            }
        }
    }

    fileprivate mutating func applyAbsence(at now: Timestamp) {
        guard subject.state == .created, subject.providerReference == nil else {
            if subject.state == .canceled { subject.refreshAt = nil }
            return
        }
        if subject.confirmAbsence(at: now) { subject.retryWithNewKey(at: now) }
        endUnlessKnown(at: now)
    }

    fileprivate mutating func endUnlessKnown(at now: Timestamp) {
        let end = subject.createdAt.advanced(by: DepositBody.creationLimit)
        if subject.state == .created, subject.providerReference == nil, now >= end {
            enter(.canceled)
        }
    }
}
