internal import Devices
internal import GotchuAPI
internal import GotchuCore
internal import Hummingbird
internal import Ledger

/// Makes and verifies bearer tokens.
///
/// Each issuer is pinned to its keys, and each key to an algorithm. A token's header is only
/// compared with that, so that it cannot select `none` or another algorithm.
struct Tokens: Sendable {
    /// The lifetime of a development token.
    static let developmentLifetime: Duration = .seconds(7 * 24 * 60 * 60)

    let localIssuer: LocalTokenIssuer
    /// The OpenID issuer whose tokens are accepted besides the server's own.
    let issuer: OpenIDIssuer?
    let users: UserDirectory
    var clock: @Sendable () -> Timestamp = { .now }
    private let verified = VerifiedTokenCache()

    /// Creates a token with all scopes for a development server's user.
    func developmentToken(for user: UserID) throws -> String {
        try localIssuer.sign(
            Login(user: user),
            scope: Scope.allCases.text,
            lifetime: Self.developmentLifetime,
            at: clock()
        )
    }

    /// Returns the login of a request, like `access`.
    func login(of request: Request, needing scope: Scope? = nil) async throws -> Login {
        try await access(of: request, needing: scope).login
    }

    /// Returns the login of a request and its token's expiry.
    ///
    /// - Throws: A problem: 401 without a valid token, 403 if it lacks the scope. A failure of the
    ///   ledger if a new user could not be inserted.
    func access(of request: Request, needing scope: Scope? = nil) async throws -> TokenAccess {
        guard let token = Self.bearer(of: request), let claims = await claims(of: token) else {
            throw Self.unauthorized
        }
        if let scope, !claims.scopes.contains(scope.rawValue) {
            throw ProblemWithHeaders(
                problem: Problem(
                    .forbidden,
                    detail: "The token does not allow this.",
                    retryable: false
                ),
                headers: [
                    .wwwAuthenticate: #"Bearer error="insufficient_scope", scope="\#(scope)""#
                ]
            )
        }
        let login =
            claims.issuer == LocalTokenIssuer.issuer
            ? Self.login(claims) : Login(user: try await users.user(claims))
        return TokenAccess(login: login, endsAt: claims.expiresAt)
    }

    /// Returns the login in one of our own tokens.
    private static func login(_ claims: TokenClaims) -> Login {
        Login(
            user: UserID(trusted: claims.subject),
            device: claims.clientID.map(DeviceID.init(trusted:))
        )
    }

    /// Removes the cached user of an issuer's token, because the ledger no longer has the user.
    ///
    /// - Returns: True if the user's next call can insert the user again.
    func forgetUser(of request: Request) -> Bool {
        guard let text = Self.bearer(of: request), let token = SignedToken(text),
            token.claims.issuer != LocalTokenIssuer.issuer
        else { return false }
        return users.forget(token.claims)
    }

    /// Returns a token's claims if it is valid now.
    private func claims(of text: String) async -> TokenClaims? {
        let now = clock()
        if let claims = verified.claims(of: text) {
            return LocalTokenIssuer.isTimely(claims, at: now) ? claims : nil
        }
        guard let token = SignedToken(text) else { return nil }
        guard token.claims.issuer == LocalTokenIssuer.issuer else {
            return await issuer?.accepts(token, at: now) == true ? token.claims : nil
        }
        guard localIssuer.accepts(token, at: now) else { return nil }
        verified.insert(text, token.claims)
        return token.claims
    }

    /// The reply for every invalid token. It gives no reason, so that a forger learns nothing.
    static var unauthorized: ProblemWithHeaders {
        ProblemWithHeaders(
            problem: Problem(
                .unauthorized,
                detail: "The call needs a valid bearer token.",
                fix: "Log in again.",
                retryable: false
            ),
            headers: [.wwwAuthenticate: "Bearer"]
        )
    }

    private static func bearer(of request: Request) -> String? {
        // With several headers it would be ambiguous which one counts.
        let values = request.headers[values: .authorization]
        guard values.count == 1, let value = values.first,
            value.utf8.prefix(scheme.count).map({ $0 | 0x20 }) == scheme
        else { return nil }
        let token = value.utf8.dropFirst(scheme.count).drop { $0 == UInt8(ascii: " ") }
        return token.isEmpty ? nil : String(Substring(token))
    }

    /// The scheme in lower case; `| 0x20` leaves the space unchanged.
    private static let scheme = Array("bearer ".utf8)
}
