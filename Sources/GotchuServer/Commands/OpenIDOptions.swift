internal import ArgumentParser
internal import Glibc
internal import ServiceProcess

/// Whose tokens are believed.
struct OpenIDOptions: ParsableArguments {
    @Option(
        name: .customLong("oidc-issuer"),
        help: ArgumentHelp("The OpenID issuer whose tokens are good here.", valueName: "url")
    )
    var issuer: String?

    @Option(
        name: .customLong("oidc-audience"),
        help: ArgumentHelp("What the audience of its tokens must name.", valueName: "name")
    )
    var audience: String?

    @Option(
        name: .customLong("oidc-jwks"),
        help: ArgumentHelp(
            "Where the issuer's public keys are: an https URL or a file.",
            valueName: "url or path"
        )
    )
    var keys: String?

    /// What is asked for, or `nil` without an issuer.
    var settings: OpenIDSettings? {
        get throws {
            let issuer = try issuer ?? Variable.oidcIssuer.text
            let audience = try audience ?? Variable.oidcAudience.text
            let keys = try keys ?? Variable.oidcJWKS.text
            guard issuer != nil || audience != nil || keys != nil else { return nil }
            guard let issuer, let audience, let keys else {
                throw ServerFailure(
                    .configuration,
                    "--oidc-issuer, --oidc-audience and --oidc-jwks go together.",
                    fix: "Name all three, or none."
                )
            }
            guard !issuer.isEmpty, !audience.isEmpty else {
                throw ServerFailure(
                    .configuration,
                    "--oidc-issuer and --oidc-audience must not be empty: nobody could log in.",
                    fix: "Name what the issuer writes into its tokens."
                )
            }
            guard issuer != OwnTokens.issuer, !issuer.contains(">") else {
                throw ServerFailure(.configuration, "This cannot be the name of an OpenID issuer.")
            }
            guard let source = KeySource(keys) else {
                throw ServerFailure(
                    .configuration,
                    "The keys of --oidc-jwks would not be fetched safely.",
                    fix: "Name an https URL, or a file."
                )
            }
            if case .file(let path) = source, access(path, R_OK) != 0 {
                throw ServerFailure(
                    .configuration,
                    "The issuer's keys at \(path) cannot be read: "
                        + "\(String(cString: strerror(errno))).",
                    fix: "Put the issuer's key set there, or name its https URL with --oidc-jwks."
                )
            }
            return OpenIDSettings(issuer: issuer, audience: audience, keys: source)
        }
    }
}
