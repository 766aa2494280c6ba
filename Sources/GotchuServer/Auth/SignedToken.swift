internal import GotchuAPI
internal import GotchuCore

/// The three parts of a JSON Web Token (RFC 7515, compact), not yet verified.
struct SignedToken: Sendable {
    /// The maximum length of a token that is decoded, in bytes.
    static let maximumLength = 8 * 1024
    private static let maximumHeaderLength = 2 * 1024

    /// The header's algorithm. It selects nothing: it must be equal to the algorithm of the key.
    let algorithm: String
    let keyID: String?
    let claims: TokenClaims
    /// The bytes that the signature covers.
    let signedBytes: [UInt8]
    let signature: [UInt8]

    /// Header members that supply a key or require other processing (RFC 8725, 3.10; RFC 7515,
    /// 4.1.11). A token with one of them is refused.
    private static let refusedMembers = ["jku", "jwk", "x5u", "x5c", "crit", "b64", "zip", "enc"]
    /// The accepted values of `typ`, in lower case. A token without `typ` is accepted.
    private static let types = ["jwt", "at+jwt", "application/jwt", "application/at+jwt"]

    /// Parses a token. The signature is not verified.
    ///
    /// - Returns: `nil` if the token is malformed or too long, or its header is not accepted.
    init?(_ text: String) {
        guard text.utf8.count <= Self.maximumLength else { return nil }
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].count <= Self.maximumHeaderLength,
            let headerBytes = Base64URL.decode(parts[0]),
            let header = try? JSONReader.object(headerBytes),
            case .string(let algorithm)? = header["alg"], algorithm.isASCII,
            !Self.refusedMembers.contains(where: { header[$0] != nil }),
            Self.isOurType(header["typ"]),
            let claims = Base64URL.decode(parts[1]).flatMap(TokenClaims.init),
            let signature = Base64URL.decode(parts[2]), !signature.isEmpty
        else { return nil }
        switch header["kid"] {
        case nil: keyID = nil
        case .string(let name)?: keyID = name.maskingNonASCII
        case .null?, .boolean?, .integer?, .otherNumber?, .array?, .object?:
            return nil
        }
        self.algorithm = algorithm
        self.claims = claims
        self.signature = signature
        signedBytes = Array(text.utf8.prefix(parts[0].count + 1 + parts[1].count))
    }

    private static func isOurType(_ value: JSONValue?) -> Bool {
        guard let value else { return true }
        guard case .string(let type) = value else { return false }
        return types.contains(type.maskingNonASCII.lowercased())
    }
}
