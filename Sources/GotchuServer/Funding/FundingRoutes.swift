internal import GotchuAPI
internal import Hummingbird

/// The addresses of money in and out.
struct FundingRoutes: Sendable {
    private let intents: IntentRoutes
    private let withdrawals: WithdrawalRoutes
    private let connect: ConnectRoutes
    private let webhook: StripeWebhook
    private let hasOnlyReturns: Bool

    init(
        _ desk: FundingDesk,
        _ stripe: StripeWork?,
        _ authentication: CallerAuthentication,
        _ options: ServerOptions
    ) {
        // People come back to pages of ours where browsers are sent no others, too.
        hasOnlyReturns = stripe != nil && options.web == nil
        intents = IntentRoutes(desk: desk, authentication: authentication)
        withdrawals = WithdrawalRoutes(desk: desk, authentication: authentication)
        connect = ConnectRoutes(
            desk: desk,
            authentication: authentication,
            publicURL: options.publicURL?.origin
        )
        webhook = StripeWebhook(ledger: desk.ledger, stripe: stripe, limits: authentication.limits)
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
        router.post(RouterPath(StripeWebhook.path), use: webhook.ring)
        if hasOnlyReturns { ProviderReturns(gate: nil).register(on: router) }
    }
}
