internal import HTTPTypes
internal import Hummingbird
internal import Ledger

/// Authenticates a request and applies its rate limit; every route for users calls it first.
struct CallerAuthentication: Sendable {
    let tokens: Tokens
    let limits: Limits

    /// Returns the login of a request.
    ///
    /// - Throws: A problem: 401 without a valid token, 403 if it lacks the scope, 429 if the login
    ///   calls too often. A failure of the ledger if a new user could not be inserted.
    func login(of request: Request, needing scope: Scope? = nil) async throws -> Login {
        try await access(of: request, needing: scope).login
    }

    /// Returns the login of a request and its token's expiry, like `login`.
    func access(of request: Request, needing scope: Scope? = nil) async throws -> TokenAccess {
        let access = try await tokens.access(of: request, needing: scope)
        try limits.allowCall(by: access.login)
        return access
    }

    /// Returns the user of a request, like `login`.
    func user(of request: Request, needing scope: Scope? = nil) async throws -> UserID {
        try await login(of: request, needing: scope).user
    }

    /// Returns the rate limit subject of a call that needs no token. A caller with a valid token is
    /// counted by login, separately from others at the same address.
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
