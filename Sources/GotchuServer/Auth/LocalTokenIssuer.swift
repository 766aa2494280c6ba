internal import Crypto
internal import Devices
internal import FoundationEssentials
internal import GotchuAPI
internal import GotchuCore
internal import Ledger

/// Signs and verifies this server's own tokens, with the secret of its database (HS256).
struct LocalTokenIssuer: Sendable {
    static let issuer = "gotchu-server"
    private static let algorithm = "HS256"
    /// The header of all own tokens: `{"alg":"HS256","typ":"JWT"}` in base64.
    private static let header = Base64URL.encode(#"{"alg":"HS256","typ":"JWT"}"#.utf8)

    let key: SymmetricKey

    init(_ secret: Secret) {
        key = SymmetricKey(data: secret.bytes)
    }

    /// Returns a separate key for a purpose. A signature that was made for another purpose is not
    /// valid with this key.
    func key(for purpose: String) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: key,
            info: Array(purpose.utf8),
            outputByteCount: 32
        )
    }

    /// Makes a token for a login. It is issued at `time` and expires after `lifetime`; both are
    /// rounded down to whole seconds.
    func sign(
        _ login: Login,
        scope: String,
        lifetime: Duration,
        at time: Timestamp
    ) throws -> String {
        let seconds = time.milliseconds / 1000
        let claims = try CanonicalJSON.encode(
            Wire(
                sub: login.user.rawValue,
                iss: Self.issuer,
                aud: Self.issuer,
                iat: seconds,
                exp: seconds + lifetime.components.seconds,
                scope: scope,
                client_id: login.device?.rawValue
            )
        )
        let signed = "\(Self.header).\(Base64URL.encode(claims))"
        let code = HMAC<SHA256>.authenticationCode(for: Array(signed.utf8), using: key)
        return "\(signed).\(Base64URL.encode(code))"
    }

    /// Returns true if a token was signed with this server's secret and is valid at `time`. There
    /// is no leeway.
    func accepts(_ token: SignedToken, at time: Timestamp) -> Bool {
        let claims = token.claims
        guard token.algorithm == Self.algorithm, claims.issuer == Self.issuer,
            claims.audiences == [Self.issuer], Self.isTimely(claims, at: time)
        else { return false }
        return HMAC<SHA256>.isValidAuthenticationCode(
            token.signature,
            authenticating: token.signedBytes,
            using: key
        )
    }

    /// Returns true if `time` is before the claims' `exp` and not before their `nbf`, if any.
    static func isTimely(_ claims: TokenClaims, at time: Timestamp) -> Bool {
        time < claims.expiresAt && claims.notBefore ?? time <= time
    }

    /// Times are whole seconds since 1970 (RFC 7519).
    private struct Wire: Encodable {
        let sub, iss, aud: String
        let iat, exp: Int64
        let scope: String
        let client_id: String?
    }
}
