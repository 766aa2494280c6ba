internal import ServiceProcess

/// The settings of the pages, after the check that they go together.
struct WebOptions: Sendable {
    /// The server's address for browsers.
    let site: PublicURL
    /// This server as a client of the OpenID issuer; `nil` if people do not log in there.
    let client: OpenIDClientSettings?
}

extension ServerSettings {
    /// The settings of the pages; `nil` if pages are disabled.
    ///
    /// - Throws: A failure if settings are missing or do not go together.
    var webOptions: WebOptions? {
        get throws(ServerFailure) {
            let client = try openIDClient
            guard isWeb else { return nil }
            guard let publicURL else {
                throw ServerFailure(
                    .usage,
                    "--web needs the address that browsers open.",
                    fix: "Name it with --public-url https://HOST or GOTCHU_SERVER_PUBLIC_URL."
                )
            }
            guard !isDevelopment || publicURL.isLoopback else {
                throw ServerFailure(
                    .configuration,
                    "With --dev anybody can log in as anybody, so the pages are for this machine.",
                    fix: "Name a loopback address: --public-url http://127.0.0.1:PORT."
                )
            }
            guard isDevelopment || client != nil else {
                throw ServerFailure(
                    .configuration,
                    "Nobody could log in to the pages: there is no --oidc-client-id and no --dev.",
                    fix: "Register this server with the OpenID issuer, and name its client id."
                )
            }
            return WebOptions(site: publicURL, client: client)
        }
    }

    private var openIDClient: OpenIDClientSettings? {
        get throws(ServerFailure) {
            guard let clientID else {
                guard clientSecretFile == nil else {
                    throw ServerFailure(
                        .usage,
                        "--oidc-client-secret-file goes with --oidc-client-id."
                    )
                }
                return nil
            }
            guard let openID = try openID else {
                throw ServerFailure(
                    .configuration,
                    "--oidc-client-id goes with --oidc-issuer, --oidc-audience and --oidc-jwks."
                )
            }
            guard case .url? = KeySource(openID.issuer), !clientID.isEmpty else {
                throw ServerFailure(
                    .configuration,
                    "People can log in only with an issuer whose name is an https URL.",
                    fix: "Write --oidc-issuer as the issuer writes it into its tokens."
                )
            }
            // If they were equal, ID tokens would be valid for the API. Browser histories and logs
            // may contain ID tokens.
            guard clientID != openID.audience else {
                throw ServerFailure(
                    .configuration,
                    "--oidc-client-id and --oidc-audience must differ.",
                    fix: "Have the issuer name an audience of its own in the API's tokens."
                )
            }
            return OpenIDClientSettings(
                issuer: openID.issuer,
                id: clientID,
                secret: try clientSecretFile.map { path throws(ServerFailure) in
                    try SecretFile.line(at: path, "The client's secret")
                }
            )
        }
    }
}
