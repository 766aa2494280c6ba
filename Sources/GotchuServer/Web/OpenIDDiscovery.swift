internal import GotchuAPI
internal import GotchuCore

/// The provider's discovery document (OpenID Connect Discovery, 3), parsed strictly.
struct OpenIDDiscovery: Sendable {
    static let sizeLimit = 64 * 1024

    /// The address of the login page.
    let authorizationEndpoint: String
    let tokenEndpoint: String
    /// The methods by which a client can authenticate with its secret.
    let authenticationMethods: [String]

    /// The reason why a discovery document cannot be used, for the operator.
    struct Unusable: Error, CustomStringConvertible {
        let description: String
    }

    init(_ bytes: [UInt8], of issuer: String) throws {
        guard let wire = try? JSONReader.decode(Wire.self, bytes) else {
            throw Unusable(description: "It is no description of an OpenID provider.")
        }
        // With another issuer's document, people and the client's secret would be sent to that
        // issuer.
        guard wire.issuer == issuer else {
            throw Unusable(description: "It is the description of another issuer.")
        }
        guard let authorization = Self.address(wire.authorization_endpoint),
            let token = Self.address(wire.token_endpoint)
        else { throw Unusable(description: "Its endpoints are not at https URLs.") }
        guard wire.code_challenge_methods_supported?.contains("S256") ?? true else {
            throw Unusable(description: "The provider does not know PKCE with S256.")
        }
        authorizationEndpoint = authorization
        tokenEndpoint = token
        authenticationMethods =
            wire.token_endpoint_auth_methods_supported ?? ["client_secret_basic"]
    }

    private struct Wire: Decodable {
        let issuer: String
        let authorization_endpoint: String
        let token_endpoint: String
        let token_endpoint_auth_methods_supported: [String]?
        let code_challenge_methods_supported: [String]?
    }

    /// Returns an address if it is safe to open and to write into a header; otherwise `nil`. It
    /// must be an https URL, or an http URL of this machine.
    private static func address(_ text: String) -> String? {
        guard text.utf8.count <= 2_048, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            !text.contains("#"), case .url(let url)? = KeySource(text)
        else { return nil }
        return url
    }
}
