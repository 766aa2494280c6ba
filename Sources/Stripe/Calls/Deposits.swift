package import GotchuCore

/// An amount for a charge, transfer or payout, with the metadata by which it can be found.
package struct NamedAmount: Sendable {
    let amount: Int64
    let currency: String
    let metadata: [String: String]

    /// - Parameters:
    ///   - amount: In minor units.
    ///   - metadata: Names and values that the object and its events contain.
    package init(amount: Int64, currency: Currency, metadata: [String: String]) {
        self.amount = amount
        self.currency = currency.rawValue.lowercased()
        self.metadata = metadata
    }
}

extension StripeCall<PaymentIntent> {
    /// The objects to expand in each answer about a payment: the charge with its fee, once that is
    /// known.
    private static var expansion: Form { ["expand": ["latest_charge.balance_transaction"]] }

    /// Creates a payment that an app confirms with its client secret.
    package static func createPaymentIntent(_ charging: NamedAmount, key: CallKey) -> Self {
        let form: Form = [
            "amount": .integer(charging.amount), "currency": .text(charging.currency),
            "automatic_payment_methods": ["enabled": true, "allow_redirects": "never"],
            "metadata": .object(Form(charging.metadata)),
            "expand": ["latest_charge.balance_transaction"],
        ]
        return post("payment_intents.create", "/v1/payment_intents", form, key: key)
    }

    /// Reads a payment with its charge and fee.
    package static func paymentIntent(_ id: String) -> Self {
        get("payment_intents.get", "/v1/payment_intents/\(segment(id))", expansion)
    }

    /// Cancels a payment that has not succeeded.
    package static func cancelPaymentIntent(_ id: String) -> Self {
        post(
            "payment_intents.cancel",
            "/v1/payment_intents/\(segment(id))/cancel",
            expansion,
            key: nil
        )
    }
}

extension StripeCall<StripeList<PaymentIntent>> {
    /// Lists the payments that were created within a period, newest first.
    package static func paymentIntents(
        from: Timestamp,
        to: Timestamp,
        after: String?
    ) -> Self {
        get("payment_intents.list", "/v1/payment_intents", .page(from, to, after: after))
    }
}

extension StripeCall<CheckoutSession> {
    private static var expansion: Form {
        ["expand": ["payment_intent.latest_charge.balance_transaction"]]
    }

    /// Creates a page of Stripe on which a card payment is made.
    ///
    /// - Parameters:
    ///   - reference: Our id.
    ///   - product: The product name shown to the payer.
    ///   - success: The URL to open after a payment.
    ///   - cancelled: The URL to open if nothing was paid.
    ///   - expiresAt: 30 minutes to 24 hours from now.
    package static func createCheckout(
        _ charging: NamedAmount,
        reference: String,
        product: String,
        success: String,
        cancelled: String,
        expiresAt: Timestamp,
        key: CallKey
    ) -> Self {
        let metadata = Form.Value.object(Form(charging.metadata))
        let form: Form = [
            "mode": "payment", "client_reference_id": .text(reference),
            "payment_method_types": ["card"], "adaptive_pricing": ["enabled": false],
            "line_items": [
                [
                    "quantity": 1,
                    "price_data": [
                        "currency": .text(charging.currency),
                        "unit_amount": .integer(charging.amount),
                        "product_data": ["name": .text(product)],
                    ],
                ]
            ],
            "metadata": metadata, "payment_intent_data": ["metadata": metadata],
            "success_url": .text(success), "cancel_url": .text(cancelled),
            "expires_at": .integer(expiresAt.seconds),
        ]
        return post("checkout_sessions.create", "/v1/checkout/sessions", form, key: key)
    }

    /// Reads a checkout with its payment, charge and fee.
    package static func checkout(_ id: String) -> Self {
        get("checkout_sessions.get", "/v1/checkout/sessions/\(segment(id))", expansion)
    }

    /// Closes a checkout's page unless it is paid.
    package static func expireCheckout(_ id: String) -> Self {
        post(
            "checkout_sessions.expire",
            "/v1/checkout/sessions/\(segment(id))/expire",
            expansion,
            key: nil
        )
    }
}

extension StripeCall<StripeList<CheckoutSession>> {
    /// Lists the checkouts that were created within a period, newest first.
    package static func checkouts(from: Timestamp, to: Timestamp, after: String?) -> Self {
        get("checkout_sessions.list", "/v1/checkout/sessions", .page(from, to, after: after))
    }
}

extension StripeCall<StripeList<StripeRefund>> {
    /// Lists the refunds of a payment with their balance transactions, newest first.
    package static func refunds(ofPaymentIntent id: String, after: String? = nil) -> Self {
        let form: Form = [
            "payment_intent": .text(id), "limit": 100,
            "expand": ["data.balance_transaction", "data.failure_balance_transaction"],
        ]
        return get("refunds.list", "/v1/refunds", form.adding("starting_after", after))
    }
}

extension StripeCall<StripeList<Dispute>> {
    /// Lists the disputes of a payment, newest first.
    package static func disputes(ofPaymentIntent id: String, after: String? = nil) -> Self {
        let form: Form = ["payment_intent": .text(id), "limit": 100]
        return get("disputes.list", "/v1/disputes", form.adding("starting_after", after))
    }
}

extension Form {
    /// Returns the parameters for a list of the objects created within a period.
    static func page(_ from: Timestamp, _ to: Timestamp?, after: String?) -> Form {
        let bounds = Form([("gte", .integer(from.seconds))])
            .adding("lte", to.map { .integer($0.seconds) })
        let form: Form = ["created": .object(bounds), "limit": 100]
        return form.adding("starting_after", after)
    }

    func adding(_ name: String, _ text: String?) -> Form {
        adding(name, text.map { Value.text($0) })
    }
}

extension Timestamp {
    /// The time in whole seconds since 1970, as Stripe writes times.
    var seconds: Int64 { milliseconds / 1_000 }
}
