internal import GotchuAPI
internal import GotchuCore
internal import Hummingbird
internal import Ledger
internal import Stripe

/// `POST /api/webhooks/stripe`. An event only triggers a refresh. The state is read from Stripe, so
/// a forged event changes nothing. The signature prevents others from triggering refreshes. There
/// is no rate limit: forged calls could use it up, and Stripe's calls would then be refused.
struct StripeWebhook: Sendable {
    static let path = "/api/webhooks/stripe"
    /// The largest signed body, in bytes.
    static let bodyLimit = 512 * 1024

    let ledger: Ledger
    /// The provider; `nil` if there is none.
    let stripe: StripeIntegration?

    @Sendable func receive(_ request: Request, _ context: ServerContext) async throws -> Response {
        guard let stripe, !stripe.options.webhookSecrets.isEmpty else {
            throw Problem.fundingNotConfigured
        }
        // The signature covers the raw bytes of the body.
        let header = request.headers[.stripeSignature]
        let limit = header == nil ? Request.bodyLimit : Self.bodyLimit
        let body = [UInt8](buffer: try await request.wholeBody(limit: limit))
        let signature = header.flatMap(WebhookSignature.init)
        let verdict = signature?.verdict(
            on: body,
            secrets: stripe.options.webhookSecrets,
            at: .now
        )
        guard verdict == .genuine else {
            stripe.metrics.countEvent("", verdict == .stale ? "stale" : "forged")
            throw Problem(
                .signatureInvalid,
                detail: "The call is not signed by Stripe for this server, or at another time.",
                fix: "Put the endpoint's secret into the file of --stripe-webhook-secrets-file, "
                    + "and let this machine's clock be set by the network."
            )
        }
        guard let event = StripeEvent(body) else {
            // With an error status, Stripe would resend the event for days.
            stripe.metrics.countEvent("", "unreadable")
            return try Self.received("")
        }
        stripe.metrics.countEvent(event.type, try await outcome(of: event, at: stripe))
        return try Self.received(event.id)
    }

    /// Queues the event's record for a refresh.
    ///
    /// - Throws: If the ledger cannot be read. Stripe then resends the event.
    private func outcome(of event: StripeEvent, at stripe: StripeIntegration) async throws -> String
    {
        guard event.isLive == stripe.isLive else { return "other_mode" }
        guard ProviderEvent.types.contains(event.type) else { return "ignored" }
        switch try await ProviderEvent.record(of: event, in: ledger) {
        case .record(let record):
            stripe.refreshQueue.enqueue(record)
            return "rung"
        case .missing: return "missing"
        case .foreign: return "foreign"
        }
    }

    private static func received(_ id: String) throws -> Response {
        try Reply.json(WebhookReceipt(received: true, stripe_event_id: id))
    }
}

struct WebhookReceipt: Encodable, Sendable {
    let received: Bool
    let stripe_event_id: String
}
