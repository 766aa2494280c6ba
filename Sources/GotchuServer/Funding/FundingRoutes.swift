internal import GotchuAPI
internal import Hummingbird

/// The routes of deposits, withdrawals and payee accounts.
struct FundingRoutes: Sendable {
    private let intents: IntentRoutes
    private let withdrawals: WithdrawalRoutes
    private let connect: ConnectRoutes
    private let webhook: StripeWebhook
    /// The pages to which the provider's pages lead back; `nil` without an address for browsers.
    private let returns: ProviderReturns?

    init(
        _ funding: FundingOperations,
        _ stripe: StripeIntegration?,
        _ authentication: CallerAuthentication,
        _ options: ServerOptions,
        _ gate: WebGate?
    ) {
        let site = options.web?.site ?? stripe?.options.site
        returns = site.map { site in
            ProviderReturns(
                gate: gate,
                setUp: SetUpPages(
                    funding: funding,
                    limits: authentication.limits,
                    key: PayeeTicket.key(of: authentication.tokens.localIssuer),
                    origin: site.origin
                )
            )
        }
        intents = IntentRoutes(funding: funding, authentication: authentication)
        withdrawals = WithdrawalRoutes(funding: funding, authentication: authentication)
        connect = ConnectRoutes(
            funding: funding,
            authentication: authentication,
            publicURL: options.publicURL?.origin
        )
        webhook = StripeWebhook(ledger: funding.ledger, stripe: stripe)
    }

    func register(on router: Router<ServerContext>) {
        router.post("/api/payments/intents", use: intents.create)
        router.get("/api/payments/intents", use: intents.list)
        router.get("/api/payments/intents/:id", use: intents.show)
        router.post("/api/payments/intents/:id/cancel", use: intents.cancel)
        router.post("/api/wallet/withdrawals", use: withdrawals.create)
        router.get("/api/wallet/withdrawals", use: withdrawals.list)
        router.get("/api/wallet/withdrawals/:id", use: withdrawals.show)
        router.post("/api/wallet/withdrawals/:id/cancel", use: withdrawals.cancel)
        router.post("/api/connect/links", use: connect.link)
        router.get("/api/connect/status", use: connect.status)
        router.post(RouterPath(StripeWebhook.path), use: webhook.receive)
        returns?.register(on: router)
    }
}
