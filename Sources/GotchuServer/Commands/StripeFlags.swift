internal import ArgumentParser

/// The Stripe options of `serve` and `reconcile`. None is a secret, because every user of the
/// machine can read a command line.
struct StripeFlags: ParsableArguments {
    @Option(
        help: .value(
            "path",
            "The file of Stripe's secret key. Without it nobody can deposit or withdraw."
        )
    )
    var stripeKeyFile: String?

    @Flag(help: "Move real money: needed with live keys, refused with test keys.")
    var stripeLive = false

    @Option(help: .value("url", "Another address of Stripe's API, on this machine."))
    var stripeApi: String?

    /// The option values by setting key.
    var values: [String: String?] {
        [
            "stripe_key_file": stripeKeyFile, "stripe_live": stripeLive ? "true" : nil,
            "stripe_api": stripeApi,
        ]
    }
}

/// The Stripe options that only `serve` has.
struct StripeServiceFlags: ParsableArguments {
    @Option(
        help: .value("path", "The file of the secrets of Stripe's webhook endpoints, one a line.")
    )
    var stripeWebhookSecretsFile: String?

    @Option(help: .value("key", "Stripe's publishable key, for apps."))
    var stripePublishableKey: String?

    /// The option values by setting key.
    var values: [String: String?] {
        [
            "stripe_webhook_secrets_file": stripeWebhookSecretsFile,
            "stripe_publishable_key": stripePublishableKey,
        ]
    }
}
