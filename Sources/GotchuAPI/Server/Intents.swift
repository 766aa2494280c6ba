package import GotchuCore

/// A payment intent: a deposit that a payer wants to make.
package struct IntentReply: Codable, Equatable, Sendable {
    package var paymentIntentID: String
    package var status: IntentStatus
    package var amountCents: WireInteger
    package var currency: Currency
    package var reference: String?
    package var createdAt: WireTime
    /// The time until which it can be paid.
    package var expiresAt: WireTime
    /// The time at which the wallet was credited.
    package var creditedAt: WireTime?
    package var lastError: IntentError?
    /// The secret with which an app shows the provider's form; only in the reply that creates the
    /// intent.
    package var clientSecret: String?
    package var publishableKey: String?
    /// The page on which to pay; only in the reply that creates the intent.
    package var checkoutURL: String?

    package init(
        paymentIntentID: String,
        status: IntentStatus,
        amountCents: WireInteger,
        currency: Currency,
        reference: String?,
        createdAt: Timestamp,
        expiresAt: Timestamp,
        creditedAt: Timestamp?,
        lastError: IntentError?
    ) {
        self.paymentIntentID = paymentIntentID
        self.status = status
        self.amountCents = amountCents
        self.currency = currency
        self.reference = reference
        self.createdAt = WireTime(createdAt)
        self.expiresAt = WireTime(expiresAt)
        self.creditedAt = creditedAt.map(WireTime.init)
        self.lastError = lastError
    }

    package var amount: Money { Money(minorUnits: amountCents.value, currency: currency) }

    enum CodingKeys: String, CodingKey {
        case status, currency, reference
        case amountCents = "amount_cents"
        case checkoutURL = "checkout_url"
        case clientSecret = "client_secret"
        case createdAt = "created_at"
        case creditedAt = "credited_at"
        case expiresAt = "expires_at"
        case lastError = "last_error"
        case paymentIntentID = "payment_intent_id"
        case publishableKey = "publishable_key"
    }
}

/// The states of a payment intent.
package enum IntentStatus: String, Codable, CaseIterable, Sendable {
    case created = "CREATED"
    case requiresPaymentMethod = "REQUIRES_PAYMENT_METHOD"
    case requiresConfirmation = "REQUIRES_CONFIRMATION"
    case requiresAction = "REQUIRES_ACTION"
    case processing = "PROCESSING"
    case succeeded = "SUCCEEDED"
    case failed = "FAILED"
    case canceled = "CANCELED"

    package var isFinal: Bool {
        switch self {
        case .succeeded, .failed, .canceled: true
        case .created, .requiresPaymentMethod, .requiresConfirmation, .requiresAction, .processing:
            false
        }
    }
}

/// The reason why the latest attempt to pay an intent failed.
package struct IntentError: Codable, Equatable, Sendable {
    package var code: String
    package var message: String

    package init(code: String, message: String) {
        self.code = code
        self.message = message
    }
}

/// The answer to `GET /api/payments/intents`, newest first.
package struct IntentsReply: Codable, Equatable, Sendable {
    package var paymentIntents: [IntentReply]
    package var nextCursor: String?

    package init(paymentIntents: [IntentReply], nextCursor: String?) {
        self.paymentIntents = paymentIntents
        self.nextCursor = nextCursor
    }

    enum CodingKeys: String, CodingKey {
        case paymentIntents = "payment_intents"
        case nextCursor = "next_cursor"
    }
}
