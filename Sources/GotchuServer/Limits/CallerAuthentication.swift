internal import HTTPTypes
internal import Hummingbird
internal import Ledger

/// Authenticates a request and applies its rate limit. Every route for users calls it first.
struct CallerAuthentication: Sendable {
    let tokens: Tokens
    let limits: Limits

    /// Returns the login of a request.
    ///
    /// - Throws: A problem: 401 without a valid token, 403 if the token lacks the scope, 429 if the
    ///   login calls too often. `LedgerError` if a new user cannot be inserted.
    func login(of request: Request, needing scope: Scope? = nil) async throws -> Login {
        try await access(of: request, needing: scope).login
    }

    /// Returns the login of a request and its token's expiry. Checks as `login` does.
    func access(of request: Request, needing scope: Scope? = nil) async throws -> TokenAccess {
        let access = try await tokens.access(of: request, needing: scope)
        try limits.allowCall(by: access.login)
        return access
    }

    /// Returns the user of a request. Checks as `login` does.
    func user(of request: Request, needing scope: Scope? = nil) async throws -> UserID {
        try await login(of: request, needing: scope).user
    }

    /// Returns the rate limit subject of a call that needs no token. A caller with a valid token is
    /// counted by login, separately from others at the same address. Calls with the priority `u=7`
    /// are counted as the login's background calls.
    ///
    /// - Throws: A problem: 429 for too many calls or misses.
    func subject(of request: Request, _ context: ServerContext) async throws -> RateLimitSubject {
        let login =
            request.headers[.authorization] == nil ? nil : try? await tokens.login(of: request)
        let isBackground = request.headers[.priority]?.contains("u=7") == true
        let subject =
            login.map { isBackground ? RateLimitSubject.background($0) : .login($0) }
            ?? .address(context.client)
        try limits.allowResolve(as: subject)
        return subject
    }
}
