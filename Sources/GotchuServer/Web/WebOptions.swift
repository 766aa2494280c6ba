internal import FoundationEssentials
internal import Glibc
internal import ServiceProcess

/// The settings of the pages, checked against each other.
struct WebOptions: Sendable {
    /// The server's address for browsers.
    let site: PublicURL
    /// The client of the OpenID issuer, at whose pages people log in; `nil` without one.
    let client: OpenIDClientSettings?
}

extension ServerSettings {
    /// The settings of the pages; `nil` if browsers are sent none.
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
            // Else an ID token, which a browser's history or a log may hold, would open the API.
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
                    try Self.clientSecret(at: path)
                }
            )
        }
    }

    /// Reads the client's secret: one line of visible ASCII in a file that its owner alone reads.
    private static func clientSecret(at path: String) throws(ServerFailure) -> String {
        func failure(_ what: String) -> ServerFailure {
            ServerFailure(
                .configuration,
                "The client's secret at \(path) cannot be used. \(what)",
                fix: "Put the secret, and nothing else, into a file of this user's with mode 600."
            )
        }
        var status = stat()
        guard stat(path, &status) == 0 else { throw failure("It cannot be read.") }
        guard status.st_mode & 0o077 == 0 else {
            throw failure("Others than its owner may read it.")
        }
        guard let data = try? Data(contentsOf: URL(filePath: path)), data.count <= 1_024 else {
            throw failure("It cannot be read, or is too long.")
        }
        var bytes = [UInt8](data)
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        guard !bytes.isEmpty, bytes.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw failure("It is not one line of visible ASCII.")
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
