package import GotchuCore
package import Ledger

/// A user's connected account at the provider, to which withdrawals are paid. Its id follows from
/// the user.
package typealias Payee = Subject<PayeeBody>

package struct PayeeBody: Watched {
    package static let kind = "payee"
    /// The looks without a change after which a set-up is taken for abandoned: three days.
    static let lookLimit = 300
    /// The reason for which an account that the provider does not show any more is restricted.
    package static let closed = "account_closed"

    /// The states. The raw values are stored and sent.
    package enum State: String, CaseIterable, Sendable {
        /// Without an account, or with one whose questions were never answered.
        case notSetUp = "NOT_SET_UP"
        case pendingVerification = "PENDING_VERIFICATION"
        case active = "ACTIVE"
        case restricted = "RESTRICTED"
    }

    package internal(set) var account: String?
    /// Accounts that are closed, instead of which others were made.
    package internal(set) var pastAccounts: [String] = []
    /// The user to whose connected account this one's withdrawals are paid; `nil` for their own.
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
    var looks = 0
    package internal(set) var lookedAt: Timestamp?
    var tries = Tries()

    package var amount: Money { Money(minorUnits: 0) }
    /// A payee has no money: withdrawals have.
    package var booked: [String: Int64] {
        get { [:] }
        set {}
    }

    package func canBe(in state: State) -> Bool {
        account != nil || state == .notSetUp
    }
}

extension Subject where Body == PayeeBody {
    /// The id of a user's payee.
    package static func id(of user: UserID) -> RecordID {
        RecordID(trusted: computedID(PayeeBody.kind, user.rawValue))
    }

    /// A payee whose account is to be made.
    init(_ user: UserID, at time: Timestamp) {
        self.init(
            id: Self.id(of: user),
            owner: user,
            createdAt: time,
            state: .notSetUp,
            lookAt: time.advanced(by: Pace.handover),
            body: PayeeBody()
        )
    }

    /// Returns true if somebody who asks for the state of its account now should have it looked at.
    package func isAccountToBeLookedAt(at now: Timestamp) -> Bool {
        isToBeLookedAt(at: now)
            || state != .active && body.account != nil && !wasJustLookedAt(at: now)
    }

    /// The key of the call that makes its account; `nil` once there is one.
    var key: String? { body.account == nil ? openingKey : nil }

    private var openingKey: String { "gotchu-\(id)-account-\(body.tries.attempt)" }

    private var order: PayeeOrder {
        PayeeOrder(
            user: owner,
            createdAt: createdAt,
            pastAccounts: body.pastAccounts,
            key: openingKey
        )
    }

    /// The call that it needs now.
    fileprivate mutating func call(at now: Timestamp) -> Call {
        if let account = body.account { return .readAccount(account) }
        return body.tries.begin(at: now, of: createdAt) ? .openAccount(order) : .findAccount(order)
    }
}

/// The decisions about payees.
extension Funding {
    /// Decides what an observation means for a payee. Total: any observation in any state.
    package static func next(
        _ payee: Payee,
        _ observation: Observation,
        at now: Timestamp
    ) -> Next<PayeeBody> {
        var next = Next(payee)
        switch observation {
        case .payee(let seen):
            guard payee.body.account ?? seen.account == seen.account,
                !payee.body.pastAccounts.contains(seen.account),
                seen.user ?? payee.owner.rawValue == payee.owner.rawValue
            else { break }
            next.subject.see(seen, at: now)
        case .refused(let refusal):
            next.subject.body.error = ProviderNotice(code: refusal.code, message: refusal.message)
            // The next person who asks for a link tries again, with another key.
            next.subject.lookAt = nil
            if payee.body.account == nil {
                next.subject.body.tries.renew(at: now)
            } else {
                next.subject.close()
            }
        case .unknown(let delay):
            if payee.lookAt != nil {
                next.subject.lookLater(within: delay ?? Pace.retry(payee.body.looks), at: now)
            }
        case .absent:
            if payee.body.account == nil, next.subject.isAbsent(at: now) {
                next.subject.callAnew(at: now)
            }
        case .deposit, .transfer, .payout: break
        }
        return next
    }

    /// Decides which call a payee needs now.
    package static func look(at payee: Payee, now: Timestamp) -> Next<PayeeBody> {
        var next = Next(payee)
        // An account is opened only if somebody asks, and none for a payee linked to another's.
        let isAsked = payee.lookAt != nil && payee.body.payeeOf == nil
        guard payee.body.account != nil || isAsked else {
            next.subject.lookAt = nil
            return next
        }
        next.call = next.subject.call(at: now)
        next.subject.body.lookedAt = now
        if payee.lookAt != nil {
            next.subject.lookAgain(within: Pace.open(payee.body.looks), at: now)
        }
        return next
    }
}

extension Subject where Body == PayeeBody {
    fileprivate mutating func see(_ seen: SeenPayee, at now: Timestamp) {
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
        if state != before { body.looks = 0 }
        switch state {
        // Bells tell of what comes later, or somebody asks for it.
        case .active, .restricted: lookAt = nil
        case .notSetUp, .pendingVerification: lookLater(within: Pace.open(body.looks), at: now)
        }
    }

    /// Notes that the provider does not show its account any more.
    fileprivate mutating func close() {
        state = .restricted
        (body.chargesEnabled, body.payoutsEnabled) = (false, false)
        body.disabledReason = PayeeBody.closed
    }

    /// Has another account made instead of one that is closed.
    mutating func renew(at now: Timestamp) {
        guard let account = body.account else { return }
        var renewed = PayeeBody()
        renewed.pastAccounts = body.pastAccounts + [account]
        (renewed.payeeOf, renewed.isReleased) = (body.payeeOf, body.isReleased)
        renewed.tries = body.tries
        renewed.tries.renew(at: now)
        body = renewed
        state = .notSetUp
        lookAt = nil
    }

    /// Has it looked at again, unless nothing has changed for days: then bells tell, or somebody
    /// asks for it.
    fileprivate mutating func lookLater(within delay: Duration, at now: Timestamp) {
        lookAt = body.looks > PayeeBody.lookLimit ? nil : now.advanced(by: delay)
    }

    private static func state(of seen: SeenPayee) -> PayeeBody.State {
        if seen.canReceive, seen.payoutsEnabled, !seen.isPastDue, seen.disabledReason == nil {
            return .active
        }
        guard seen.detailsSubmitted else { return .notSetUp }
        return seen.isPastDue || seen.disabledReason != nil ? .restricted : .pendingVerification
    }
}
