internal import Devices
internal import GotchuAPI
internal import Hummingbird
internal import Ledger
internal import LedgerStore

/// Every route of the server and its handler.
///
/// If a request has several errors, the first one in this order is reported:
/// 404 unknown path, 405 wrong method, 429 too many calls from the address, 401 no valid token,
/// 403 missing scope, 429 too many calls by the login, 400 idempotency key missing or malformed,
/// 415 wrong type, 413 body too large, 400 malformed body.
///
/// Then the ledger decides, in this order: a replay, or 422 for a key that another request has
/// used; 404 unknown session, 403 own or another user's session, 409 or 410 for the session's
/// state, 409 amount changed, 402 not enough money.
struct Routes: Sendable {
    /// The methods that the decoder accepts. A request with another method counts as no HTTP. The
    /// decoder spells M-SEARCH without the hyphen.
    private static let methods = """
        ACL BIND CHECKOUT CONNECT COPY DELETE GET HEAD LINK LOCK MERGE MKACTIVITY \
        MKCALENDAR MKCOL MOVE MSEARCH NOTIFY OPTIONS PATCH POST PROPFIND PROPPATCH PURGE PUT \
        QUERY REBIND REPORT SEARCH SOURCE SUBSCRIBE TRACE UNBIND UNLINK UNLOCK UNSUBSCRIBE
        """.split(separator: " ").compactMap { HTTPRequest.Method(String($0)) }

    private let accounts: DevelopmentLogin?
    private let deviceTokens: TokenRoutes
    private let sessions: SessionRoutes
    private let events: SessionEvents
    private let wallet: WalletRoutes
    private let history: HistoryRoutes
    private let walletEvents: WalletEvents
    private let earnings: EarningsRoutes
    private let funding: FundingRoutes
    private let health: HealthRoutes
    private let metrics: MetricsRoute
    private let web: WebRoutes?
    private let contests: ContestRoutes?
    private let problems: Problems
    /// The counts of all replies: those of the router, and those to requests that are not HTTP.
    let requests = RequestMetrics()

    init(
        ledger: Ledger,
        devices: DeviceRegistry,
        store: any Store,
        tokens: Tokens,
        readiness: Readiness,
        options: ServerOptions,
        provider: OpenIDClient? = nil,
        stripe: StripeIntegration? = nil
    ) {
        let limits = Limits(callsPerSecond: options.limits.callsPerSecond)
        let authentication = CallerAuthentication(tokens: tokens, limits: limits)
        let operations = FundingOperations(ledger, stripe, limits, options)
        contests = options.contests.map { ContestRoutes($0, ledger, authentication) }
        accounts = options.developmentOpening.map { opening in
            DevelopmentLogin(ledger: ledger, tokens: tokens, limits: limits, opening: opening)
        }
        deviceTokens = TokenRoutes(
            ledger: ledger,
            devices: devices,
            tokens: tokens,
            authentication: authentication,
            lifetime: options.tokenLifetime
        )
        sessions = SessionRoutes(
            authentication: authentication,
            liveLimit: options.limits.sessionsPerPayee,
            publicURL: options.web?.site.origin,
            funding: operations,
            contests: contests
        )
        events = SessionEvents(ledger: ledger, authentication: authentication)
        let entries = contests?.metrics
        wallet = WalletRoutes(ledger: ledger, authentication: authentication, contests: entries)
        history = HistoryRoutes(ledger: ledger, authentication: authentication)
        walletEvents = WalletEvents(ledger: ledger, authentication: authentication)
        earnings = EarningsRoutes(
            ledger: ledger,
            authentication: authentication,
            funding: operations
        )
        health = HealthRoutes(readiness: readiness)
        metrics = MetricsRoute(
            ledger: ledger,
            requests: requests,
            misses: limits.misses,
            store: StoreMetricsCache(store: store),
            readiness: readiness,
            funding: stripe?.metrics,
            contests: contests?.metrics,
            isOpen: options.limits.hasOpenMetrics
        )
        web = options.web.map { [accounts, contests] web in
            WebRoutes(web, operations, store, authentication, accounts, provider, contests)
        }
        funding = FundingRoutes(operations, stripe, authentication, options, web?.gate)
        problems = Problems(metrics: requests, tokens: tokens, options: options)
    }

    /// Creates the router of the whole server. A known path with a wrong method gets 405.
    func router() -> Router<ServerContext> {
        let router = addresses()
        for routes in Dictionary(grouping: router.routes, by: \.path.description).values {
            // The connection makes a GET of each HEAD.
            let methods = routes.map(\.method).flatMap { $0 == .get ? [.get, .head] : [$0] }
            let names = methods.map(\.rawValue)
            for other in Self.methods where !methods.contains(other) {
                router.on(routes[0].path, method: other) { _, _ -> Response in
                    throw ProblemWithHeaders(
                        problem: Problem(
                            .methodNotAllowed,
                            detail: "This address takes \(names.joined(separator: " and ")) only."
                        ),
                        headers: [.allow: names.joined(separator: ", ")]
                    )
                }
            }
        }
        return router
    }

    /// Registers every route with its methods.
    func addresses() -> Router<ServerContext> {
        let router = Router(context: ServerContext.self)
        router.add(middleware: problems)
        if let accounts { router.post("/auth/dev-login", use: accounts.login) }
        router.post("/auth/token", use: deviceTokens.refresh)
        router.get("/auth/login", use: deviceTokens.show)
        router.post("/sessions/create", use: sessions.create)
        router.post("/sessions/resolve", use: sessions.resolve)
        router.post("/sessions/lock", use: sessions.lock)
        router.get("/sessions/:sid", use: sessions.show)
        router.get("/sessions/:sid/events", use: events.follow)
        router.post("/sessions/:sid/eids", use: sessions.rotate)
        router.post("/sessions/:sid/unlock", use: sessions.unlock)
        router.post("/sessions/:sid/cancel", use: sessions.cancel)
        router.post("/sessions/:sid/refund", use: wallet.refund)
        router.post("/wallet/send", use: wallet.send)
        router.get("/wallet/sends/:key", use: wallet.outcome)
        router.get("/wallet/me", use: wallet.me)
        router.get("/api/wallet/balance", use: history.balance)
        router.get("/api/wallet/transactions", use: history.transactions)
        router.get("/api/wallet/events", use: walletEvents.follow)
        router.get("/api/payments/earnings", use: HeavyReads.onPool(earnings.show))
        router.get(
            "/api/payments/earnings/history",
            use: HeavyReads.onPool(earnings.history)
        )
        funding.register(on: router)
        router.get("/healthz", use: health.alive)
        router.get("/readyz", use: health.ready)
        router.get("/metrics", use: metrics.page)
        router.get("/openapi.yaml", use: OpenAPI.handler(of: OpenAPI.document))
        web?.register(on: router)
        contests?.register(on: router)
        return router
    }
}
