internal import Funding
internal import GotchuAPI
internal import GotchuCore
internal import Hummingbird
internal import Ledger

/// The routes by which payees become known to the provider.
struct ConnectRoutes: Sendable {
    let desk: FundingDesk
    let authentication: CallerAuthentication
    /// The server's address for browsers, if it has one.
    let publicURL: String?

    /// Makes a fresh link each time: one that was opened, by a preview for instance, is spent.
    @Sendable func link(_ request: Request, _ context: ServerContext) async throws -> Response {
        let user = try await authentication.user(of: request, needing: .payouts)
        let fields = try await request.fields()
        try fields.end()
        guard try desk.source(for: user) != .mint, let work = desk.work else {
            let host = request.head.authority ?? "localhost"
            return try Reply.json(
                ConnectLinkReply(
                    url: "\(publicURL ?? "http://\(host)")/connect/return",
                    expiresAt: desk.ledger.now.advanced(by: .seconds(300))
                )
            )
        }
        var payee = try await desk.ledger.submit(PutPayee(user)).accepted()
        if payee.body.account == nil {
            _ = await work.drive(payee.id)
            payee = try await desk.payee(of: user) ?? payee
        }
        guard let account = payee.body.account else {
            guard let error = payee.body.error else {
                throw Problem.providerUnavailable.retry(after: 2)
            }
            throw Problem(
                .providerRefused,
                detail: "The payment provider refused this: \(error.message)"
            )
        }
        return try Reply.json(try await work.link(of: account, user: user))
    }

    @Sendable func status(_ request: Request, _ context: ServerContext) async throws -> Response {
        let user = try await authentication.user(of: request, needing: .payouts)
        try QueryParameters(request).end()
        let payee = try await desk.payee(of: user)
        if let work = desk.work, let payee, payee.isToBeLookedAt(at: desk.ledger.now) {
            _ = await work.drive(payee.id)
        }
        return try Reply.json(try await desk.status(of: user))
    }
}
