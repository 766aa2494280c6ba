package import GotchuCore
package import Ledger

/// A user's connected account at the provider, to which withdrawals are paid. Its id is derived
/// from the user.
package typealias Payee = FundingRecord<PayeeBody>

package struct PayeeBody: RefreshableBody {
    package static let kind = "payee"
    /// The most refreshes without a change before an onboarding counts as abandoned: about three
    /// days.
    static let refreshLimit = 300
    /// The reason for the restriction of an account that the provider no longer shows. The provider
    /// uses the same word for a failed payout to a closed bank account.
    package static let closed = "account_closed"

    /// The states. The raw values are stored and sent.
    package enum State: String, CaseIterable, Sendable {
        /// No account, or one whose onboarding was never completed.
        case notSetUp = "NOT_SET_UP"
        case pendingVerification = "PENDING_VERIFICATION"
        case active = "ACTIVE"
        case restricted = "RESTRICTED"
    }

    package internal(set) var account: String?
    /// Closed accounts that were replaced by others.
    package internal(set) var pastAccounts: [String] = []
    /// The user to whose connected account the withdrawals are paid; `nil` for their own.
    package internal(set) var payeeOf: UserID?
    package internal(set) var chargesEnabled = false
    package internal(set) var payoutsEnabled = false
    package internal(set) var detailsSubmitted = false
    package internal(set) var currentlyDue: [String] = []
    package internal(set) var disabledReason: String?
    package internal(set) var currentDeadline: Timestamp?
    /// A Boolean that is true once withdrawals need no release by the operator.
    package internal(set) var isReleased = false
    package internal(set) var error: ProviderNotice?
    var refreshCount = 0
    package internal(set) var refreshedAt: Timestamp?
    var attempts = CallAttempts()

    package var amount: Money { Money(minorUnits: 0) }
    /// Always empty: a payee has no facts, only its withdrawals have.
    package var booked: [String: Int64] {
        get { [:] }
        set {}
    }

    package func canBe(in state: State) -> Bool {
        account != nil || state == .notSetUp
    }
}

extension FundingRecord where Body == PayeeBody {
    package static func id(of user: UserID) -> RecordID {
        RecordID(trusted: computedID(PayeeBody.kind, user.rawValue))
    }

    /// Creates a payee whose account is yet to be opened.
    init(_ user: UserID, at time: Timestamp) {
        self.init(
            id: Self.id(of: user),
            owner: user,
            createdAt: time,
            state: .notSetUp,
            refreshAt: time.advanced(by: Pace.handover),
            body: PayeeBody()
        )
    }

    /// Returns true if a request for its account's state should refresh it from the provider.
    package func needsAccountRefresh(at now: Timestamp) -> Bool {
        needsRefresh(at: now)
            || state != .active && body.account != nil && !wasJustRefreshed(at: now)
    }

    /// The key of the call that opens its account; `nil` if it has one.
    var key: String? { body.account == nil ? openingKey : nil }

    private var openingKey: String { "gotchu-\(id)-account-\(body.attempts.attempt)" }

    private var order: PayeeOrder {
        PayeeOrder(
            user: owner,
            createdAt: createdAt,
            pastAccounts: body.pastAccounts,
            key: openingKey
        )
    }

    /// Returns the call that it needs now.
    fileprivate mutating func call(at now: Timestamp) -> Call {
        if let account = body.account { return .readAccount(account) }
        return body.attempts.begin(at: now, of: createdAt)
            ? .openAccount(order) : .findAccount(order)
    }
}

extension Funding {
    /// Decides the effect of an observation on a payee. Accepts any observation in any state.
    package static func next(
        _ payee: Payee,
        _ observation: Observation,
        at now: Timestamp
    ) -> FundingDecision<PayeeBody> {
        var decision = FundingDecision(payee)
        switch observation {
        case .payee(let seen):
            guard payee.body.account ?? seen.account == seen.account,
                !payee.body.pastAccounts.contains(seen.account),
                seen.user ?? payee.owner.rawValue == payee.owner.rawValue
            else { break }
            decision.subject.apply(seen, at: now)
        case .refused(let refusal):
            decision.subject.body.error = ProviderNotice(
                code: refusal.code,
                message: refusal.message
            )
            // The payee's next request tries again, with another key.
            decision.subject.refreshAt = nil
            if payee.body.account == nil {
                decision.subject.body.attempts.renew(at: now)
            } else {
                decision.subject.close()
            }
        case .unknown(let delay):
            if payee.refreshAt != nil {
                decision.subject.scheduleLimitedRefresh(
                    within: delay ?? Pace.retry(payee.body.refreshCount),
                    at: now
                )
            }
        case .absent:
            // With an unused key, only an account that the ledger has lost could exist. It would be
            // an old one, which no list misses. A person waits for the new one.
            if payee.body.account == nil,
                !payee.body.attempts.isKeyUsed || decision.subject.confirmAbsence(at: now)
            {
                decision.subject.retryWithNewKey(at: now)
                decision = planRefresh(of: decision.subject, at: now)
            }
        case .deposit, .transfer, .payout: break
        }
        return decision
    }

    /// Decides which call a payee needs now.
    static func planRefresh(
        of payee: Payee,
        at now: Timestamp
    ) -> FundingDecision<PayeeBody> {
        var decision = FundingDecision(payee)
        // An account is opened only on request, and none for a payee linked to another's account.
        let isRequested = payee.refreshAt != nil && payee.body.payeeOf == nil
        guard payee.body.account != nil || isRequested else {
            decision.subject.refreshAt = nil
            return decision
        }
        decision.call = decision.subject.call(at: now)
        decision.subject.body.refreshedAt = now
        if payee.refreshAt != nil {
            decision.subject.scheduleRefresh(within: Pace.open(payee.body.refreshCount), at: now)
        }
        return decision
    }
}

extension FundingRecord where Body == PayeeBody {
    fileprivate mutating func apply(_ seen: SeenPayee, at now: Timestamp) {
        let before = state
        body.account = seen.account
        body.chargesEnabled = seen.chargesEnabled
        body.payoutsEnabled = seen.payoutsEnabled
        body.detailsSubmitted = seen.detailsSubmitted
        body.currentlyDue = Array(seen.currentlyDue.prefix(50))
        body.disabledReason = seen.disabledReason
        body.currentDeadline = seen.currentDeadline
        body.error = nil
        state = Self.state(of: seen)
        if state != before { body.refreshCount = 0 }
        switch state {
        // Later changes are learned from events, or when somebody requests the state.
        case .active, .restricted: refreshAt = nil
        case .notSetUp, .pendingVerification:
            scheduleLimitedRefresh(within: Pace.open(body.refreshCount), at: now)
        }
    }

    /// Records that the provider no longer shows its account.
    fileprivate mutating func close() {
        state = .restricted
        (body.chargesEnabled, body.payoutsEnabled) = (false, false)
        body.disabledReason = PayeeBody.closed
    }

    /// Removes its account. The payee's next request opens another one.
    mutating func renew(at now: Timestamp) {
        guard let account = body.account else { return }
        var renewed = PayeeBody()
        renewed.pastAccounts = body.pastAccounts + [account]
        (renewed.payeeOf, renewed.isReleased) = (body.payeeOf, body.isReleased)
        renewed.attempts = body.attempts
        renewed.attempts.renew(at: now)
        body = renewed
        state = .notSetUp
        refreshAt = nil
    }

    /// Schedules a refresh, unless nothing has changed for days: then changes are learned from
    /// events or on request.
    fileprivate mutating func scheduleLimitedRefresh(within delay: Duration, at now: Timestamp) {
        refreshAt = body.refreshCount > PayeeBody.refreshLimit ? nil : now.advanced(by: delay)
    }

    private static func state(of seen: SeenPayee) -> PayeeBody.State {
        if seen.canReceive, seen.payoutsEnabled, !seen.isPastDue, seen.disabledReason == nil {
            return .active
        }
        guard seen.detailsSubmitted else { return .notSetUp }
        return seen.isPastDue || seen.disabledReason != nil ? .restricted : .pendingVerification
    }
}
