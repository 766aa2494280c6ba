package import GotchuCore

/// A withdrawal from the wallet to a bank account.
package struct WithdrawalReply: Codable, Equatable, Sendable {
    package var withdrawalID: String
    package var amountCents: WireInteger
    package var currency: Currency
    package var status: WithdrawalStatus
    package var createdAt: WireTime
    /// The code of the reason why it waits or has failed.
    package var reason: String?
    /// The time at which the money is expected at the bank.
    package var arrivalDate: WireTime?

    package init(
        withdrawalID: String,
        amountCents: WireInteger,
        currency: Currency,
        status: WithdrawalStatus,
        createdAt: Timestamp,
        reason: String?,
        arrivalDate: Timestamp?
    ) {
        self.withdrawalID = withdrawalID
        self.amountCents = amountCents
        self.currency = currency
        self.status = status
        self.createdAt = WireTime(createdAt)
        self.reason = reason
        self.arrivalDate = arrivalDate.map(WireTime.init)
    }

    package var amount: Money { Money(minorUnits: amountCents.value, currency: currency) }

    enum CodingKeys: String, CodingKey {
        case currency, status, reason
        case amountCents = "amount_cents"
        case arrivalDate = "arrival_date"
        case createdAt = "created_at"
        case withdrawalID = "withdrawal_id"
    }
}

extension WithdrawalReply {
    /// The reason as a text for people. A code of the provider is returned unchanged.
    package var reasonText: String? {
        switch reason {
        case "waiting_for_release": "The operator releases a new payee's first withdrawals."
        case "waiting_for_payout": "The provider pays this out later."
        case "waiting_for_funds": "It waits until the payment provider has the money."
        case "stopped_by_operator": "The operator has stopped it."
        default: reason
        }
    }
}

package enum WithdrawalStatus: String, Codable, CaseIterable, Sendable {
    case pending, processing, paid, failed, cancelled
}

/// The parts of the wallet's balance, by their state for withdrawals, in minor units.
package struct Withdrawable: Codable, Equatable, Sendable {
    /// The part that can be withdrawn now.
    package var availableCents: WireInteger
    /// The part that is too recent to be withdrawn.
    package var heldCents: WireInteger
    /// The debt: money that the provider took back after it was spent. The balance settles it
    /// before any withdrawal.
    package var owedCents: WireInteger

    package init(availableCents: WireInteger, heldCents: WireInteger, owedCents: WireInteger) {
        self.availableCents = availableCents
        self.heldCents = heldCents
        self.owedCents = owedCents
    }

    enum CodingKeys: String, CodingKey {
        case availableCents = "available_cents"
        case heldCents = "held_cents"
        case owedCents = "owed_cents"
    }
}

/// The answer to `GET /api/wallet/withdrawals`, newest first.
package struct WithdrawalsReply: Codable, Equatable, Sendable {
    package var withdrawable: Withdrawable
    package var withdrawals: [WithdrawalReply]
    package var nextCursor: String?

    package init(
        withdrawable: Withdrawable,
        withdrawals: [WithdrawalReply],
        nextCursor: String?
    ) {
        self.withdrawable = withdrawable
        self.withdrawals = withdrawals
        self.nextCursor = nextCursor
    }

    enum CodingKeys: String, CodingKey {
        case withdrawable, withdrawals
        case nextCursor = "next_cursor"
    }
}

/// The answer to `POST /api/connect/links`: a link that works once.
package struct ConnectLinkReply: Codable, Equatable, Sendable {
    package var url: String
    package var expiresAt: WireTime

    package init(url: String, expiresAt: Timestamp) {
        self.url = url
        self.expiresAt = WireTime(expiresAt)
    }

    enum CodingKeys: String, CodingKey {
        case url
        case expiresAt = "expires_at"
    }
}

/// The answer to `GET /api/connect/status`.
package struct ConnectStatusReply: Codable, Equatable, Sendable {
    package var status: ConnectStatus
    package var chargesEnabled: Bool
    package var payoutsEnabled: Bool
    package var detailsSubmitted: Bool
    /// The details that the provider still requires, by the provider's names.
    package var currentlyDue: [String]
    package var disabledReason: String?
    package var currentDeadline: WireTime?

    package init(
        status: ConnectStatus,
        chargesEnabled: Bool,
        payoutsEnabled: Bool,
        detailsSubmitted: Bool,
        currentlyDue: [String] = [],
        disabledReason: String? = nil,
        currentDeadline: Timestamp? = nil
    ) {
        self.status = status
        self.chargesEnabled = chargesEnabled
        self.payoutsEnabled = payoutsEnabled
        self.detailsSubmitted = detailsSubmitted
        self.currentlyDue = currentlyDue
        self.disabledReason = disabledReason
        self.currentDeadline = currentDeadline.map(WireTime.init)
    }

    enum CodingKeys: String, CodingKey {
        case status
        case chargesEnabled = "charges_enabled"
        case currentDeadline = "current_deadline"
        case currentlyDue = "currently_due"
        case detailsSubmitted = "details_submitted"
        case disabledReason = "disabled_reason"
        case payoutsEnabled = "payouts_enabled"
    }
}

package enum ConnectStatus: String, Codable, CaseIterable, Sendable {
    case notSetUp = "NOT_SET_UP"
    case pendingVerification = "PENDING_VERIFICATION"
    case active = "ACTIVE"
    case restricted = "RESTRICTED"
}
