internal import GotchuCore

/// Validates tokens of one OpenID issuer for this server (RFC 8725, RFC 9068).
struct OpenIDIssuer: Sendable {
    /// The tolerated difference between the issuer's clock and ours.
    static let leeway: Duration = .seconds(30)

    /// The exact `iss` of its tokens.
    let name: String
    /// The audience that a token's `aud` must contain.
    let audience: String
    let keys: KeyRing

    /// Returns true if a token is the issuer's, meant for this server, and valid at `time`.
    func accepts(_ token: SignedToken, at time: Timestamp) async -> Bool {
        let claims = token.claims
        // The cheap checks come first, because an unknown key may cause a fetch.
        guard claims.issuer == name, claims.audiences.contains(audience),
            Self.isTimely(claims, at: time), let keyID = token.keyID,
            let key = await keys.key(id: keyID)
        else { return false }
        return key.verifies(token)
    }

    private static func isTimely(_ claims: TokenClaims, at time: Timestamp) -> Bool {
        let latest = time.advanced(by: leeway)
        return time < claims.expiresAt.advanced(by: leeway)
            && claims.notBefore ?? latest <= latest && claims.issuedAt ?? latest <= latest
    }
}
