package import GotchuCore

/// The result of a call to the provider. It contains the whole current state of an object, never a
/// difference. The order, repetition or loss of observations therefore does not matter.
package enum Observation: Equatable, Sendable {
    case deposit(SeenDeposit)
    case payee(SeenPayee)
    case transfer(SeenTransfer)
    case payout(SeenPayout)
    /// The provider did nothing, and will do nothing under this key.
    case refused(ProviderRefusal)
    /// The call may have been carried out: timeout, broken connection, 5xx, 409, 429, 401, 403.
    ///
    /// - Parameter after: The time to wait before the call is retried, if the provider or the
    ///   reason specifies one.
    case unknown(after: Duration?)
    /// A complete list contains no object that refers to the record.
    case absent
}

/// A definite refusal by the provider.
package struct ProviderRefusal: Error, Equatable, Sendable {
    package enum Reason: Equatable, Sendable {
        /// The balance is insufficient: the call may be retried later with another key.
        case insufficientFunds
        /// The key was used with other parameters: an error that a person must examine.
        case keyReused
        case other
    }

    package let reason: Reason
    /// The provider's error code, for instance `resource_missing`.
    package let code: String
    /// The provider's message, for the operator and the payee.
    package let message: String
    /// A Boolean that is true if the provider repeats an earlier refusal. The events after that
    /// refusal are unknown.
    let isReplay: Bool

    package init(_ reason: Reason, code: String, message: String, isReplay: Bool = false) {
        self.reason = reason
        self.code = code
        self.message = message
        self.isReplay = isReplay
    }
}

/// A PaymentIntent, and the Checkout session that created it, if any.
package struct SeenDeposit: Equatable, Sendable {
    package enum Status: String, CaseIterable, Sendable {
        case requiresPaymentMethod = "requires_payment_method"
        case requiresConfirmation = "requires_confirmation"
        case requiresAction = "requires_action"
        case processing
        /// Also an expired Checkout session.
        case canceled
        case succeeded
    }

    /// `pi_…`; `nil` if a Checkout session has none yet.
    package let intent: String?
    /// `cs_…`.
    package let checkout: String?
    /// An open Checkout session without a PaymentIntent requires a payment method.
    package let status: Status
    /// The received amount if it has succeeded, else the ordered one. In minor units.
    package let amount: Int64
    /// The currency code as the provider writes it.
    package let currency: String
    package let isLive: Bool
    /// The record id in its metadata.
    package let deposit: String?
    package let error: ProviderNotice?
    /// The charge that succeeded.
    package let charge: SeenCharge?

    package init(
        intent: String?,
        checkout: String? = nil,
        status: Status,
        amount: Int64,
        currency: String,
        isLive: Bool,
        deposit: String?,
        error: ProviderNotice? = nil,
        charge: SeenCharge? = nil
    ) {
        self.intent = intent
        self.checkout = checkout
        self.status = status
        self.amount = amount
        self.currency = currency
        self.isLive = isLive
        self.deposit = deposit
        self.error = error
        self.charge = charge
    }
}

/// An amount of any currency that the provider received.
package struct ReceivedMoney: Codable, Equatable, Sendable {
    /// In minor units of the currency.
    let amount: Int64
    /// Three lower-case letters.
    let currency: String

    /// The amount for people: `18.50 eur`.
    package var text: String {
        let number = Currency(rawValue: currency).map {
            Money(minorUnits: amount, currency: $0).decimalText
        }
        return "\(number ?? "\(amount) minor units of") \(currency)"
    }
}

/// A code and a message of the provider for people, for instance about a declined card.
package struct ProviderNotice: Codable, Equatable, Sendable {
    package let code: String
    /// The provider's own text; may be empty.
    package let message: String

    package init(code: String, message: String) {
        self.code = code
        self.message = message
    }
}

/// A charge with all later movements of its money.
package struct SeenCharge: Equatable, Sendable {
    /// The charge's own balance transaction; `nil` until the provider creates it.
    package let transaction: SeenTransaction?
    package let refunds: [SeenReversal]
    package let disputes: [SeenReversal]

    package init(
        transaction: SeenTransaction?,
        refunds: [SeenReversal] = [],
        disputes: [SeenReversal] = []
    ) {
        self.transaction = transaction
        self.refunds = refunds
        self.disputes = disputes
    }
}

/// A balance transaction: the change of the provider's balance is `amount - fee`.
package struct SeenTransaction: Equatable, Sendable {
    /// `txn_…`.
    package let id: String
    /// The provider's type: `charge`, `stripe_fee`, `payout`.
    package let type: String
    /// In minor units; negative for outgoing money.
    package let amount: Int64
    package let fee: Int64
    package let currency: String
    /// The object that caused it, if any: `ch_…`, `re_…`, `dp_…`, `tr_…`.
    package let source: String?

    package init(
        id: String,
        type: String,
        amount: Int64,
        fee: Int64,
        currency: String,
        source: String? = nil
    ) {
        self.id = id
        self.type = type
        self.amount = amount
        self.fee = fee
        self.currency = currency
        self.source = source
    }
}

/// A refund of a charge made at the provider, or a dispute. An inquiry moves no money and has no
/// transactions.
package struct SeenReversal: Equatable, Sendable {
    /// `re_…`, or `dp_…` or `du_…`.
    package let id: String
    /// In minor units of the charge's currency, positive. For a dispute, this amount is used only
    /// if the provider's transactions are in another currency.
    package let amount: Int64
    /// The transaction that moved the money out; `nil` if there is none yet.
    package let out: SeenTransaction?
    /// The transaction that returned it: the refund failed, or the dispute was won.
    package let back: SeenTransaction?
    /// A Boolean that is true if the dispute was lost: nothing will be returned.
    let isLost: Bool

    package init(
        id: String,
        amount: Int64,
        out: SeenTransaction?,
        back: SeenTransaction? = nil,
        isLost: Bool = false
    ) {
        self.id = id
        self.amount = amount
        self.out = out
        self.back = back
        self.isLost = isLost
    }
}

/// A connected account.
package struct SeenPayee: Equatable, Sendable {
    /// `acct_…`.
    package let account: String
    /// The user id in its metadata.
    package let user: String?
    /// A Boolean that is true if the capability `transfers` is active.
    package let canReceive: Bool
    package let chargesEnabled: Bool
    package let payoutsEnabled: Bool
    package let detailsSubmitted: Bool
    package let currentlyDue: [String]
    package let isPastDue: Bool
    package let disabledReason: String?
    package let currentDeadline: Timestamp?

    package init(
        account: String,
        user: String?,
        canReceive: Bool,
        chargesEnabled: Bool,
        payoutsEnabled: Bool,
        detailsSubmitted: Bool,
        currentlyDue: [String] = [],
        isPastDue: Bool = false,
        disabledReason: String? = nil,
        currentDeadline: Timestamp? = nil
    ) {
        self.account = account
        self.user = user
        self.canReceive = canReceive
        self.chargesEnabled = chargesEnabled
        self.payoutsEnabled = payoutsEnabled
        self.detailsSubmitted = detailsSubmitted
        self.currentlyDue = currentlyDue
        self.isPastDue = isPastDue
        self.disabledReason = disabledReason
        self.currentDeadline = currentDeadline
    }
}

/// A transfer to a connected account.
package struct SeenTransfer: Equatable, Sendable {
    /// `tr_…`.
    package let id: String
    /// In minor units: the rest if a part was reversed; the whole amount if all was reversed.
    package let amount: Int64
    package let currency: String
    package let destination: String
    /// The reversal, `trr_…`, if the whole transfer was reversed.
    package let reversal: String?

    package init(
        id: String,
        amount: Int64,
        currency: String,
        destination: String,
        reversal: String? = nil
    ) {
        self.id = id
        self.amount = amount
        self.currency = currency
        self.destination = destination
        self.reversal = reversal
    }
}

/// A payout from a connected account to a bank.
package struct SeenPayout: Equatable, Sendable {
    package enum Status: String, CaseIterable, Sendable {
        case pending
        case inTransit = "in_transit"
        case paid
        /// Also a payout that was reversed after it was paid.
        case failed
        case canceled
    }

    /// `po_…`.
    package let id: String
    package let status: Status
    package let amount: Int64
    package let currency: String
    package let arrivesAt: Timestamp?
    package let failure: ProviderNotice?

    package init(
        id: String,
        status: Status,
        amount: Int64,
        currency: String,
        arrivesAt: Timestamp? = nil,
        failure: ProviderNotice? = nil
    ) {
        self.id = id
        self.status = status
        self.amount = amount
        self.currency = currency
        self.arrivesAt = arrivesAt
        self.failure = failure
    }
}
