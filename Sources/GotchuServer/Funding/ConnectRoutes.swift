internal import GotchuAPI
internal import Hummingbird

/// The routes with which payees set up their account at the provider.
struct ConnectRoutes: Sendable {
    let funding: FundingOperations
    let authentication: CallerAuthentication
    /// The server's address for browsers, if it has one.
    let publicURL: String?

    /// Creates a new link for each request. A link works once, and a link preview may have used it.
    @Sendable func link(_ request: Request, _ context: ServerContext) async throws -> Response {
        let user = try await authentication.user(of: request, needing: .payouts)
        let fields = try await request.fields()
        try fields.rejectUnreadMembers()
        let host = request.head.authority ?? "localhost"
        let link = try await funding.setUpLink(for: user, at: publicURL ?? "http://\(host)")
        return try Reply.json(link)
    }

    @Sendable func status(_ request: Request, _ context: ServerContext) async throws -> Response {
        let user = try await authentication.user(of: request, needing: .payouts)
        try QueryParameters(request).end()
        return try Reply.json(try await funding.refreshedStatus(of: user))
    }
}
