internal import FoundationEssentials
internal import Glibc
internal import ServiceProcess
internal import Stripe

/// The address of Stripe's API, and the key for calls to it.
struct StripeAccess: Sendable {
    /// The origin of the API.
    let address: String
    let secret: StripeSecretKey
}

/// The settings of Stripe.
struct StripeOptions: Sendable {
    let access: StripeAccess
    /// The secrets of our webhook endpoints at Stripe; empty if Stripe sends this server no
    /// webhooks.
    let webhookSecrets: [EndpointSecret]
    let publishableKey: StripePublishableKey?
    /// This server's address for browsers.
    let site: PublicURL
}

extension ServerSettings {
    /// The settings of Stripe; `nil` without a key.
    ///
    /// - Throws: `ServerFailure` if a setting is missing, unreadable or wrong.
    var stripeOptions: StripeOptions? {
        get throws(ServerFailure) {
            guard let access = try stripeAccess else {
                guard !stripe.isLive, stripe.publishableKey == nil, stripe.api == nil,
                    stripe.webhookSecretsFile == nil
                else {
                    throw ServerFailure(
                        .configuration,
                        "Other settings of Stripe go with --stripe-key-file.",
                        fix: "Name the file of its secret key, or leave them out."
                    )
                }
                return nil
            }
            guard let publicURL else {
                throw ServerFailure(
                    .configuration,
                    "Stripe's pages must lead back to this server.",
                    fix: "Name its address for browsers: --public-url https://HOST."
                )
            }
            return StripeOptions(
                access: access,
                webhookSecrets: try webhookSecrets,
                publishableKey: try publishableKey(for: access.secret),
                site: publicURL
            )
        }
    }

    /// The address and key for Stripe; `nil` without a key.
    var stripeAccess: StripeAccess? {
        get throws(ServerFailure) {
            let what = "Stripe's key"
            guard let path = stripe.keyFile ?? Self.credential("stripe-key") else { return nil }
            guard let secret = StripeSecretKey(try SecretFile.line(at: path, what)) else {
                throw SecretFile.failure(path, what, "It is no secret or restricted key.")
            }
            try requireMode(of: secret)
            return StripeAccess(address: try stripeAddress(for: secret), secret: secret)
        }
    }

    /// Throws if the key's mode is not the server's. Test keys move no real money.
    private func requireMode(of secret: StripeSecretKey) throws(ServerFailure) {
        guard !isDevelopment || !secret.isLive else {
            throw ServerFailure(
                .configuration,
                "With --dev anybody can log in as anybody, and this key moves real money.",
                fix: "Use a test key, or leave --dev out."
            )
        }
        guard secret.isLive == stripe.isLive else {
            throw ServerFailure(
                .configuration,
                secret.isLive
                    ? "Stripe's key moves real money, and --stripe-live is not given."
                    : "Stripe's key is a test key, and --stripe-live is given.",
                fix: "Give --stripe-live with live keys alone."
            )
        }
    }

    private func stripeAddress(for secret: StripeSecretKey) throws(ServerFailure) -> String {
        guard let api = stripe.api else { return StripeClient.address }
        guard !secret.isLive, let address = PublicURL(api), address.isLoopback else {
            throw ServerFailure(
                .configuration,
                "--stripe-api names an address of this machine, and goes with test keys.",
                fix: "Leave it out: Stripe itself is called then."
            )
        }
        return address.origin
    }

    private var webhookSecrets: [EndpointSecret] {
        get throws(ServerFailure) {
            let what = "Stripe's webhook secrets"
            let named = stripe.webhookSecretsFile ?? Self.credential("stripe-webhook-secrets")
            guard let path = named else { return [] }
            var secrets: [EndpointSecret] = []
            for (index, text) in try SecretFile.lines(at: path, what).enumerated() {
                guard let secret = EndpointSecret(text) else {
                    throw SecretFile.failure(
                        path,
                        what,
                        "Number \(index + 1) does not begin with whsec_, or is too long."
                    )
                }
                secrets.append(secret)
            }
            return secrets
        }
    }

    private func publishableKey(
        for secret: StripeSecretKey
    ) throws(ServerFailure) -> StripePublishableKey? {
        guard let text = stripe.publishableKey else { return nil }
        guard let key = StripePublishableKey(text), key.isLive == secret.isLive else {
            throw ServerFailure(
                .configuration,
                "--stripe-publishable-key is no publishable key of the secret key's mode."
            )
        }
        return key
    }

    /// Returns the path of a credential from the service manager; `nil` if there is none.
    private static func credential(_ name: String) -> String? {
        guard let folder = ProcessInfo.processInfo.environment["CREDENTIALS_DIRECTORY"] else {
            return nil
        }
        let path = "\(folder)/\(name)"
        return access(path, F_OK) == 0 ? path : nil
    }
}
