internal import FoundationEssentials
internal import GotchuAPI
internal import GotchuCore

/// The claims of a token about its bearer (RFC 7519, RFC 9068), parsed strictly.
struct TokenClaims: Equatable, Sendable {
    /// The longest display name, in Unicode scalars.
    static let maximumNameLength = 64

    let issuer: String
    /// The subject: 1 to 255 visible ASCII characters (OpenID Connect Core, 2).
    let subject: String
    let audiences: [String]
    let expiresAt: Timestamp
    let notBefore: Timestamp?
    let issuedAt: Timestamp?
    /// All scopes, unknown ones included.
    let scopes: Set<String>
    /// The client that the token was issued to (RFC 9068, 2.2). In the server's own tokens it is
    /// the device's id.
    let clientID: String?
    /// The bearer's display name, from the claims `name` or `preferred_username`.
    let name: String?
    /// The nonce of the login that an ID token belongs to (OpenID Connect Core, 2).
    let nonce: String?
    /// The client that an ID token was issued to (`azp`).
    let authorizedParty: String?
    /// The time of the login at the issuer (`auth_time`).
    let authenticatedAt: Timestamp?

    /// Parses claims from JSON. `iss`, `sub` and `exp` are required.
    ///
    /// - Returns: `nil` if the bytes are no JSON object, a member is repeated, a required claim is
    ///   missing, or a claim has a wrong type or value.
    init?(_ bytes: [UInt8]) {
        // This refuses repeated members. JSONDecoder alone would accept them.
        guard (try? JSONReader.object(bytes)) != nil,
            let wire = try? JSONDecoder().decode(Wire.self, from: Data(bytes)),
            let end = Self.time(wire.exp), (1...255).contains(wire.sub.utf8.count),
            wire.sub.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        // A time that is present must be valid.
        let times = [wire.nbf, wire.iat, wire.auth_time].compactMap(\.self)
        guard times.allSatisfy({ Self.time($0) != nil }) else { return nil }
        issuer = wire.iss
        subject = wire.sub
        audiences = wire.aud?.values ?? []
        expiresAt = end
        notBefore = wire.nbf.flatMap(Self.time)
        issuedAt = wire.iat.flatMap(Self.time)
        scopes = Set((wire.scope ?? "").maskingNonASCII.split(separator: " ").map(String.init))
        clientID = wire.client_id
        name = Self.name(wire)
        nonce = wire.nonce
        authorizedParty = wire.azp
        authenticatedAt = wire.auth_time.flatMap(Self.time)
    }

    private struct Wire: Decodable {
        let iss: String
        let sub: String
        let aud: Audience?
        let exp: Double
        let nbf: Double?
        let iat: Double?
        let scope: String?
        let client_id: String?
        let name: String?
        let preferred_username: String?
        let nonce: String?
        let azp: String?
        let auth_time: Double?
    }

    /// One audience or an array of them (RFC 7519, 4.1.3).
    private struct Audience: Decodable {
        let values: [String]

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let one = try? container.decode(String.self) {
                values = [one]
            } else {
                values = try container.decode([String].self)
            }
        }
    }

    /// Converts seconds since 1970; `nil` if they are negative or after the year 9999.
    private static func time(_ seconds: Double) -> Timestamp? {
        guard seconds.isFinite, (0...253_402_300_799).contains(seconds) else { return nil }
        return Timestamp(milliseconds: Int64(seconds * 1000))
    }

    /// Returns the name shown to payers: the text before an `@`, without control characters and
    /// invisible ones. Returns `nil` if nothing visible is left.
    private static func name(_ wire: Wire) -> String? {
        let given = wire.name ?? wire.preferred_username
        guard let plain = given?.unicodeScalars.split(separator: "@").first else { return nil }
        let scalars = plain.filter {
            !$0.properties.isDefaultIgnorableCodePoint && !$0.controlsText
        }
        let name = String(String.UnicodeScalarView(scalars.prefix(maximumNameLength)))
        return name.allSatisfy(\.isWhitespace) ? nil : name
    }
}
