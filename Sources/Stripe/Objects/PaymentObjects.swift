package import GotchuCore

/// A payment by card.
package struct PaymentIntent: StripeObject, Identified {
    package static let kind = "payment_intent"

    /// The state of a payment.
    package enum Status: String, StripeWord {
        case requiresPaymentMethod = "requires_payment_method"
        case requiresConfirmation = "requires_confirmation"
        case requiresAction = "requires_action"
        case requiresCapture = "requires_capture"
        case processing
        case canceled
        case succeeded
        case unknown = ""
    }

    /// The reason why the last try did not pay.
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
    /// The amount that was really paid.
    package let amountReceived: Int64
    /// Three lower-case letters.
    package let currency: String
    package let status: Status
    package let isLive: Bool
    package let metadata: [String: String]
    package let created: Timestamp
    /// The secret with which an app confirms. Never stored, never logged.
    package let clientSecret: String?
    package let latestCharge: Expandable<StripeCharge>?
    package let lastError: Failure?

    enum CodingKeys: String, CodingKey {
        case id, amount, currency, status, metadata, created
        case amountReceived = "amount_received"
        case isLive = "livemode"
        case clientSecret = "client_secret"
        case latestCharge = "latest_charge"
        case lastError = "last_payment_error"
    }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        id = try values.decode(String.self, forKey: .id)
        amount = try values.decode(Int64.self, forKey: .amount)
        amountReceived = try values.decodeIfPresent(Int64.self, forKey: .amountReceived) ?? 0
        currency = try values.decode(String.self, forKey: .currency)
        status = try values.decode(Status.self, forKey: .status)
        isLive = try values.decode(Bool.self, forKey: .isLive)
        metadata = try values.metadata(.metadata)
        created = try values.time(.created)
        clientSecret = try values.decodeIfPresent(String.self, forKey: .clientSecret)
        latestCharge = try values.decodeIfPresent(Expandable.self, forKey: .latestCharge)
        lastError = try values.decodeIfPresent(Failure.self, forKey: .lastError)
    }
}

/// A page of Stripe's on which a card pays.
package struct CheckoutSession: StripeObject, Identified {
    package static let kind = "checkout.session"

    /// The state of a checkout's page.
    package enum Status: String, StripeWord {
        case open, complete, expired
        case unknown = ""
    }

    package let id: String
    package let status: Status
    /// The page; `nil` once it is closed.
    package let url: String?
    package let amount: Int64?
    package let currency: String?
    package let isLive: Bool
    package let metadata: [String: String]
    /// The payment, which there is once somebody has tried to pay.
    package let paymentIntent: Expandable<PaymentIntent>?

    enum CodingKeys: String, CodingKey {
        case id, status, url, currency, metadata
        case amount = "amount_total"
        case isLive = "livemode"
        case paymentIntent = "payment_intent"
    }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        id = try values.decode(String.self, forKey: .id)
        status = try values.decodeIfPresent(Status.self, forKey: .status) ?? .unknown
        url = try values.decodeIfPresent(String.self, forKey: .url)
        amount = try values.decodeIfPresent(Int64.self, forKey: .amount)
        currency = try values.decodeIfPresent(String.self, forKey: .currency)
        isLive = try values.decode(Bool.self, forKey: .isLive)
        metadata = try values.metadata(.metadata)
        paymentIntent = try values.decodeIfPresent(Expandable.self, forKey: .paymentIntent)
    }
}

/// A card's payment as the bank sees it.
package struct StripeCharge: StripeObject, Identified {
    package static let kind = "charge"

    package let id: String
    /// The fee is in it; `nil` until Stripe knows.
    package let balanceTransaction: Expandable<BalanceTransaction>?
    package let paymentIntent: Expandable<AnyStripeObject>?

    enum CodingKeys: String, CodingKey {
        case id
        case balanceTransaction = "balance_transaction"
        case paymentIntent = "payment_intent"
    }
}

/// Money that went back to a card.
package struct StripeRefund: StripeObject, Identified {
    package static let kind = "refund"

    package let id: String
    package let amount: Int64
    package let balanceTransaction: Expandable<BalanceTransaction>?
    /// Set once the money has come back after a failure.
    package let failureBalanceTransaction: Expandable<BalanceTransaction>?

    enum CodingKeys: String, CodingKey {
        case id, amount
        case balanceTransaction = "balance_transaction"
        case failureBalanceTransaction = "failure_balance_transaction"
    }
}

/// A cardholder's objection to a charge. Inquiries move nothing.
package struct Dispute: StripeObject, Identified {
    package static let kind = "dispute"

    package let id: String
    /// In minor units of the charge's currency.
    package let amount: Int64
    /// Money taken (negative) and returned, with the dispute's fee.
    package let balanceTransactions: [BalanceTransaction]

    enum CodingKeys: String, CodingKey {
        case id, amount
        case balanceTransactions = "balance_transactions"
    }
}
