internal import Hummingbird
internal import Ledger

/// Who calls, and whether he may call so often: what every route for users asks first.
struct Callers: Sendable {
    let tokens: Tokens
    let limits: Limits

    /// The user who calls.
    ///
    /// - Throws: A problem: 401 without a good token, 403 if it lacks the scope, 429 if he calls
    ///   too often. A failure of the ledger if he had to be taken in and that could not be written.
    func user(of request: Request, needing scope: Scope? = nil) async throws -> UserID {
        let user = try await tokens.user(of: request, needing: scope)
        try limits.allowCall(by: user)
        return user
    }

    /// Whoever asks what anybody may ask. Who sends a good token is counted for himself, and not
    /// with his neighbours.
    ///
    /// - Throws: A problem: 429 for too many questions, or too many misses.
    func asker(of request: Request, _ context: ServerContext) async throws -> Asker {
        let user =
            request.headers[.authorization] == nil ? nil : try? await tokens.user(of: request)
        let asker = user.map { Asker.user($0) } ?? .address(context.client)
        try limits.allowResolve(from: context.client, as: asker)
        return asker
    }
}
