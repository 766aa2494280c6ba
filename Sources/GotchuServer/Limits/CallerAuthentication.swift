internal import HTTPTypes
internal import Hummingbird
internal import Ledger

/// Who calls, and whether he may call so often: what every route for users asks first.
struct CallerAuthentication: Sendable {
    let tokens: Tokens
    let limits: Limits

    /// The login that a request is made with.
    ///
    /// - Throws: A problem: 401 without a good token, 403 if it lacks the scope, 429 if the login
    ///   calls too often. A failure of the ledger if a new user could not be written.
    func login(of request: Request, needing scope: Scope? = nil) async throws -> Login {
        let login = try await tokens.login(of: request, needing: scope)
        try limits.allowCall(by: login)
        return login
    }

    /// The user that a request is made for; as `login`.
    func user(of request: Request, needing scope: Scope? = nil) async throws -> UserID {
        try await login(of: request, needing: scope).user
    }

    /// Whoever asks what anybody may ask. Who sends a good token is counted for himself, and not
    /// with his neighbours.
    ///
    /// - Throws: A problem: 429 for too many questions, or too many misses.
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
