package import GotchuCore

/// A card payment.
package struct PaymentIntent: StripeObject, Identified {
    package static let kind = "payment_intent"

    package enum Status: String, StripeEnum {
        case requiresPaymentMethod = "requires_payment_method"
        case requiresConfirmation = "requires_confirmation"
        case requiresAction = "requires_action"
        case requiresCapture = "requires_capture"
        case processing
        case canceled
        case succeeded
        case unknown = ""
    }

    /// The reason why the last attempt failed.
    package struct Failure: Decodable, Sendable {
        package let code: String?
        package let declineCode: String?
        package let message: String?

        enum CodingKeys: String, CodingKey {
            case code, message
            case declineCode = "decline_code"
        }
    }

    package let id: String
    package let amount: Int64
    private let received: Int64?
    /// Three lower-case letters.
    package let currency: String
    package let status: Status
    package let isLive: Bool
    @Metadata package var metadata: [String: String]
    @UnixTime package var created: Timestamp
    /// The secret with which an app confirms the payment. Never stored, never logged.
    package let clientSecret: String?
    package let latestCharge: Expandable<StripeCharge>?
    package let lastError: Failure?

    /// The amount that was actually paid.
    package var amountReceived: Int64 { received ?? 0 }

    enum CodingKeys: String, CodingKey {
        case id, amount, currency, status, metadata, created
        case received = "amount_received"
        case isLive = "livemode"
        case clientSecret = "client_secret"
        case latestCharge = "latest_charge"
        case lastError = "last_payment_error"
    }
}

/// A page of Stripe on which a card payment is made.
package struct CheckoutSession: StripeObject, Identified {
    package static let kind = "checkout.session"

    package enum Status: String, StripeEnum {
        case open, complete, expired
        case unknown = ""
    }

    package let id: String
    private let state: Status?
    /// The page's URL; `nil` once it is closed.
    package let url: String?
    package let amount: Int64?
    package let currency: String?
    package let isLive: Bool
    @Metadata package var metadata: [String: String]
    /// The payment; `nil` until a payment is attempted.
    package let paymentIntent: Expandable<PaymentIntent>?

    package var status: Status { state ?? .unknown }

    enum CodingKeys: String, CodingKey {
        case id, url, currency, metadata
        case state = "status"
        case amount = "amount_total"
        case isLive = "livemode"
        case paymentIntent = "payment_intent"
    }
}

/// A charge to a card.
package struct StripeCharge: StripeObject, Identified {
    package static let kind = "charge"

    package let id: String
    /// The transaction, which contains the fee; `nil` until Stripe knows it.
    package let balanceTransaction: Expandable<BalanceTransaction>?
    package let paymentIntent: Expandable<AnyStripeObject>?

    enum CodingKeys: String, CodingKey {
        case id
        case balanceTransaction = "balance_transaction"
        case paymentIntent = "payment_intent"
    }
}

/// A refund to a card.
package struct StripeRefund: StripeObject, Identified {
    package static let kind = "refund"

    package let id: String
    package let amount: Int64
    package let balanceTransaction: Expandable<BalanceTransaction>?
    /// Set once the money has been returned after a failure.
    package let failureBalanceTransaction: Expandable<BalanceTransaction>?

    enum CodingKeys: String, CodingKey {
        case id, amount
        case balanceTransaction = "balance_transaction"
        case failureBalanceTransaction = "failure_balance_transaction"
    }
}

/// A cardholder's dispute of a charge. Inquiries move no money.
package struct Dispute: StripeObject, Identified {
    package static let kind = "dispute"

    /// The state of a dispute, as far as it decides about money.
    package enum Status: String, StripeEnum {
        /// The withdrawn money will not be returned.
        case lost
        case unknown = ""
    }

    package let id: String
    /// In minor units of the charge's currency.
    package let amount: Int64
    package let status: Status
    /// The withdrawn money (negative) and the returned money, with the dispute's fee.
    package let balanceTransactions: [BalanceTransaction]

    enum CodingKeys: String, CodingKey {
        case id, amount, status
        case balanceTransactions = "balance_transactions"
    }
}
