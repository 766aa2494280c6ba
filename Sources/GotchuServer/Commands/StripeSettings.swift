internal import ServiceProcess

/// The Stripe settings before their validation.
struct StripeSettings: Sendable {
    var keyFile: String?
    var webhookSecretsFile: String?
    var isLive = false
    var api: String?
    var publishableKey: String?
}

extension ServerSettings {
    static let stripeTable: [Setting<Self>] = [
        Setting("stripe_key_file", \.stripe.keyFile, .text),
        Setting("stripe_webhook_secrets_file", \.stripe.webhookSecretsFile, .text),
        Setting("stripe_live", \.stripe.isLive, .boolean),
        Setting("stripe_api", \.stripe.api, .text),
        Setting("stripe_publishable_key", \.stripe.publishableKey, .text),
    ]
}
