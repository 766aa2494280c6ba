internal import Devices
internal import GotchuAPI
internal import GotchuCore
internal import Hummingbird
internal import Ledger

/// Makes and verifies bearer tokens.
///
/// Each issuer is pinned to its keys, and each key to one algorithm. A token's header must agree
/// with the algorithm of the key. It cannot select `none` or another algorithm.
struct Tokens: Sendable {
    static let developmentLifetime: Duration = .seconds(7 * 24 * 60 * 60)

    let localIssuer: LocalTokenIssuer
    /// The OpenID issuer whose tokens are also accepted; `nil` if only the server's own are.
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

    /// Returns the login of a request. Throws the same errors as `access`.
    func login(of request: Request, needing scope: Scope? = nil) async throws -> Login {
        try await access(of: request, needing: scope).login
    }

    /// Returns the login of a request and its token's expiry.
    ///
    /// If the token is the issuer's and its user is new, inserts the user into the ledger.
    ///
    /// - Throws: A problem: 401 without a valid token, 403 if it lacks the scope. A `LedgerError`
    ///   if a new user could not be inserted.
    func access(of request: Request, needing scope: Scope? = nil) async throws -> TokenAccess {
        guard let token = Self.bearer(of: request), let claims = await claims(of: token) else {
            throw Self.unauthorized
        }
        if let scope, !claims.scopes.contains(scope.rawValue) {
            throw ProblemWithHeaders(
                problem: Self.lacks(scope, claims),
                headers: [
                    .wwwAuthenticate: #"Bearer error="insufficient_scope", scope="\#(scope)""#
                ]
            )
        }
        guard claims.issuer == LocalTokenIssuer.issuer else {
            let end = claims.expiresAt.advanced(by: OpenIDIssuer.leeway)
            return TokenAccess(
                login: Login(user: try await users.user(claims)),
                endsAt: end,
                clock: clock
            )
        }
        return TokenAccess(login: Self.login(claims), endsAt: claims.expiresAt, clock: clock)
    }

    /// Returns the problem of a token without a scope. For a device's token it names the option
    /// that gives the scope.
    private static func lacks(_ scope: Scope, _ claims: TokenClaims) -> Problem {
        let (what, option): (String, String?) =
            switch scope {
            case .payee: ("request money", nil)
            case .payer: ("spend", "--may-spend")
            case .payouts: ("withdraw money", "--may-withdraw")
            }
        let isDevice = claims.issuer == LocalTokenIssuer.issuer && claims.clientID != nil
        let reason = isDevice ? option : nil
        return Problem(
            .forbidden,
            detail: "This login may not \(what)"
                + (reason.map { ", because its device was added without \($0)." } ?? "."),
            fix: reason.map { "The operator: gotchu-server devices add NAME --user USER \($0)" },
            retryable: false
        )
    }

    /// Returns the login in one of the server's own tokens.
    private static func login(_ claims: TokenClaims) -> Login {
        Login(
            user: UserID(trusted: claims.subject),
            device: claims.clientID.map(DeviceID.init(trusted:))
        )
    }

    /// Removes the cached user of an issuer's token, because the ledger no longer has the user.
    ///
    /// - Returns: True if the user was cached. The user's next call then inserts the user again.
    func forgetUser(of request: Request) -> Bool {
        guard let text = Self.bearer(of: request), let token = SignedToken(text),
            token.claims.issuer != LocalTokenIssuer.issuer
        else { return false }
        return users.forget(token.claims)
    }

    /// Returns a token's claims; `nil` if it is not valid now.
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

    /// The reply for every invalid token. It gives no reason, because a reason would help a forger.
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

    /// Returns the text of a request's one bearer token; `nil` if there is none, or several.
    static func bearer(of request: Request) -> String? {
        // Several Authorization headers would be ambiguous.
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
