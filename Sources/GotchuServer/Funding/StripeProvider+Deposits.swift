internal import Funding
internal import GotchuCore
internal import Ledger
internal import Stripe

/// Deposits at Stripe: a PaymentIntent for the presentation `clientSecret`, else a hosted Checkout.
extension StripeProvider {
    /// The metadata keys that link an object to our records.
    static let depositMetadataKey = "gotchu_deposit"
    private static let referenceName = "gotchu_reference"
    private static let product = "Gotchu wallet"

    func open(_ order: DepositOrder) async -> CallResult {
        var metadata = [
            Self.depositMetadataKey: order.deposit.rawValue,
            Self.userMetadataKey: order.user.rawValue,
        ]
        metadata[Self.referenceName] = order.reference
        let charging = NamedAmount(
            amount: order.amount.minorUnits,
            currency: order.amount.currency,
            metadata: metadata
        )
        let key = CallKey(ours: order.key)
        switch order.presentation {
        case .clientSecret:
            let outcome = await client.send(.createPaymentIntent(charging, key: key))
            return await creationResult(outcome, orFind: { await find(order) }) { intent in
                CallResult(.deposit(SeenDeposit(intent)), secret: intent.clientSecret)
            }
        case .hosted:
            let call = StripeCall.createCheckout(
                charging,
                reference: order.deposit.rawValue,
                product: Self.product,
                success: site.origin + WebPath.deposited,
                cancelled: site.origin + WebPath.depositCancelled,
                expiresAt: order.expiresAt,
                key: key
            )
            let outcome = await client.send(call)
            return await creationResult(outcome, orFind: { await find(order) }) {
                await result(of: $0)
            }
        }
    }

    func read(_ reference: DepositReference) async -> CallResult {
        if let checkout = reference.checkout {
            return await lookupResult(await client.send(.checkout(checkout))) {
                await result(of: $0)
            }
        }
        guard let intent = reference.intent else { return CallResult(.absent) }
        return await lookupResult(await client.send(.paymentIntent(intent))) { intent in
            await result(of: intent, checkout: nil, secret: intent.clientSecret)
        }
    }

    /// Cancels a payment, and returns its state. A payment that has succeeded stays.
    func end(_ reference: DepositReference) async -> CallResult {
        // A refusal means that the payment has ended or is in progress. The state that is read next
        // decides.
        if let checkout = reference.checkout {
            _ = await client.send(.expireCheckout(checkout))
        } else if let intent = reference.intent {
            _ = await client.send(.cancelPaymentIntent(intent))
        }
        return await read(reference)
    }

    func find(_ order: DepositOrder) async -> CallResult {
        let from = order.createdAt.advanced(by: .zero - Self.clockDifference)
        let to = order.createdAt.advanced(by: .seconds(24 * 3_600))
        let deposit = order.deposit.rawValue
        switch order.presentation {
        case .clientSecret:
            let outcome = await search(
                { .paymentIntents(from: from, to: to, after: $0) },
                for: { $0.metadata[Self.depositMetadataKey] == deposit }
            )
            return await lookupResult(outcome) { found in
                guard let intent = found else { return CallResult(.absent) }
                return await lookupResult(await client.send(.paymentIntent(intent.id))) { intent in
                    await result(of: intent, checkout: nil, secret: intent.clientSecret)
                }
            }
        case .hosted:
            let outcome = await search(
                { .checkouts(from: from, to: to, after: $0) },
                for: { $0.metadata[Self.depositMetadataKey] == deposit }
            )
            return await lookupResult(outcome) { found in
                guard let checkout = found else { return CallResult(.absent) }
                return await lookupResult(await client.send(.checkout(checkout.id))) {
                    await result(of: $0)
                }
            }
        }
    }

    private func result(of checkout: CheckoutSession) async -> CallResult {
        guard let intent = checkout.paymentIntent?.object else {
            guard checkout.paymentIntent == nil, let seen = SeenDeposit(checkout) else {
                return CallResult(.unknown(after: Self.unreadableDelay))
            }
            return CallResult(.deposit(seen), secret: checkout.url)
        }
        return await result(of: intent, checkout: checkout, secret: checkout.url)
    }

    /// Returns the result for a payment, with its refunds and disputes if it has succeeded.
    private func result(
        of intent: PaymentIntent,
        checkout: CheckoutSession?,
        secret: String?
    ) async -> CallResult {
        guard intent.status != .unknown else {
            return CallResult(.unknown(after: Self.unreadableDelay))
        }
        guard intent.status == .succeeded else {
            return CallResult(.deposit(SeenDeposit(intent, checkout: checkout)), secret: secret)
        }
        let refunds = await all { .refunds(ofPaymentIntent: intent.id, after: $0) }
        guard case .done(let refunds) = refunds else { return CallResult(Self.unknown(refunds)) }
        let disputes = await all { .disputes(ofPaymentIntent: intent.id, after: $0) }
        guard case .done(let disputes) = disputes else { return CallResult(Self.unknown(disputes)) }
        let line = intent.latestCharge?.object?.balanceTransaction?.object
        let charge = SeenCharge(
            transaction: line.map(SeenTransaction.init),
            refunds: refunds.reversed().map { SeenReversal($0) },
            disputes: disputes.reversed().map { SeenReversal($0) }
        )
        return CallResult(.deposit(SeenDeposit(intent, checkout: checkout, charge: charge)))
    }
}

extension SeenDeposit {
    init(_ intent: PaymentIntent, checkout: CheckoutSession? = nil, charge: SeenCharge? = nil) {
        let isPaid = intent.status == .succeeded
        self.init(
            intent: intent.id,
            checkout: checkout?.id,
            status: Status(intent.status, isClosed: checkout?.status == .expired),
            amount: isPaid ? intent.amountReceived : intent.amount,
            currency: intent.currency,
            isLive: intent.isLive,
            deposit: intent.metadata[StripeProvider.depositMetadataKey],
            error: intent.lastError.map { failure in
                ProviderNotice(
                    code: failure.declineCode ?? failure.code ?? "card_error",
                    message: failure.message ?? ""
                )
            },
            charge: charge
        )
    }

    /// Creates the view of a checkout without a payment; `nil` if the checkout has an unexpected
    /// form.
    init?(_ checkout: CheckoutSession) {
        guard let amount = checkout.amount, let currency = checkout.currency,
            checkout.status == .open || checkout.status == .expired
        else { return nil }
        self.init(
            intent: nil,
            checkout: checkout.id,
            status: checkout.status == .open ? .requiresPaymentMethod : .canceled,
            amount: amount,
            currency: currency,
            isLive: checkout.isLive,
            deposit: checkout.metadata[StripeProvider.depositMetadataKey]
        )
    }
}

extension SeenDeposit.Status {
    /// - Parameter isClosed: True if the checkout has expired. It can then no longer be paid.
    fileprivate init(_ status: PaymentIntent.Status, isClosed: Bool) {
        self =
            switch status {
            case .succeeded: .succeeded
            case .canceled: .canceled
            case .processing, .requiresCapture: .processing
            case .requiresPaymentMethod, .unknown: isClosed ? .canceled : .requiresPaymentMethod
            case .requiresConfirmation: isClosed ? .canceled : .requiresConfirmation
            case .requiresAction: isClosed ? .canceled : .requiresAction
            }
    }
}

extension SeenTransaction {
    init(_ line: BalanceTransaction) {
        self.init(
            id: line.id,
            type: line.type,
            amount: line.amount,
            fee: line.fee,
            currency: line.currency,
            source: line.source?.id
        )
    }
}

extension SeenReversal {
    fileprivate init(_ refund: StripeRefund) {
        self.init(
            id: refund.id,
            amount: refund.amount,
            out: refund.balanceTransaction?.object.map(SeenTransaction.init),
            back: refund.failureBalanceTransaction?.object.map(SeenTransaction.init)
        )
    }

    fileprivate init(_ dispute: Dispute) {
        let lines = dispute.balanceTransactions
        self.init(
            id: dispute.id,
            amount: dispute.amount,
            out: lines.first { $0.amount < 0 }.map(SeenTransaction.init),
            back: lines.first { $0.amount > 0 }.map(SeenTransaction.init),
            isLost: dispute.status == .lost
        )
    }
}
