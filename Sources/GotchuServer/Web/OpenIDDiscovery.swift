internal import FoundationEssentials
internal import GotchuAPI

/// The provider's description of itself (OpenID Connect Discovery, 3), parsed strictly.
struct OpenIDDiscovery: Sendable {
    static let sizeLimit = 64 * 1024

    /// The page at which people log in.
    let authorizationEndpoint: String
    let tokenEndpoint: String
    /// The ways in which a client with a secret may show it.
    let authenticationMethods: [String]

    /// The reason, for the operator, why a description cannot be used.
    struct Unusable: Error, CustomStringConvertible {
        let description: String
    }

    init(_ bytes: [UInt8], of issuer: String) throws {
        guard let wire = try? JSONDecoder().decode(Wire.self, from: Data(bytes)) else {
            throw Unusable(description: "It is no description of an OpenID provider.")
        }
        // Another's description would send people, and the client's secret, elsewhere.
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

    /// Returns an address that may be opened and written into a header.
    private static func address(_ text: String) -> String? {
        guard text.utf8.count <= 2_048, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            !text.contains("#"), case .url(let url)? = KeySource(text)
        else { return nil }
        return url
    }
}
