internal import GotchuAPI
internal import Hummingbird
internal import Ledger

/// Every address of the server and what answers there.
///
/// Of several things that are wrong with one request the first of these is reported: 404 no such
/// address · 405 wrong method · 429 too many from this address · 401 no good token · 403 the token
/// does not allow it · 429 too many by this user · 400 idempotency key missing or malformed · 415 ·
/// 413 · 400 malformed body · then, in the ledger: replay or 422 for a used key · 404 no such
/// session · 403 own or another's session · 409/410 where the session stands · 409 amount changed ·
/// 402 not enough money.
struct Routes: Sendable {
    private typealias Handler = @Sendable (Request, ServerContext) async throws -> Response

    /// All that a request is read with; with another one it is no HTTP. M-SEARCH loses its hyphen.
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
    private let refunds: RefundRoutes
    private let history: HistoryRoutes
    private let health: HealthRoutes
    private let metrics: MetricsRoute
    private let problems: Problems
    /// What was answered, by the router or before it.
    let requests = RequestMetrics()

    init(
        ledger: Ledger,
        devices: any DeviceStore,
        operations: any OperationsStore,
        tokens: Tokens,
        readiness: Readiness,
        options: ServerOptions
    ) {
        let limits = Limits()
        let callers = Callers(tokens: tokens, limits: limits)
        accounts = options.developmentOpening.map { opening in
            DevelopmentLogin(ledger: ledger, tokens: tokens, limits: limits, opening: opening)
        }
        deviceTokens = TokenRoutes(
            ledger: ledger,
            devices: devices,
            tokens: tokens,
            limits: limits,
            lifetime: options.tokenLifetime
        )
        sessions = SessionRoutes(ledger: ledger, callers: callers)
        events = SessionEvents(ledger: ledger, callers: callers)
        wallet = WalletRoutes(ledger: ledger, callers: callers)
        refunds = RefundRoutes(ledger: ledger, callers: callers)
        history = HistoryRoutes(ledger: ledger, callers: callers)
        health = HealthRoutes(readiness: readiness)
        metrics = MetricsRoute(
            ledger: ledger,
            requests: requests,
            misses: limits.misses,
            store: StoreWatch(store: operations),
            readiness: readiness,
            isOpen: options.limits.hasOpenMetrics
        )
        problems = Problems(metrics: requests, proxies: options.limits.proxies)
    }

    /// Where payments are taken that need no router.
    var payments: PaymentDesk { PaymentDesk(wallet: wallet, problems: problems) }

    /// The responder of the whole server.
    func router() -> Router<ServerContext> {
        let router = Router(context: ServerContext.self)
        router.add(middleware: problems)
        if let accounts { add(router, "/auth/dev-login", .post, accounts.login) }
        add(router, "/auth/token", .post, deviceTokens.refresh)
        add(router, "/sessions/create", .post, sessions.create)
        add(router, "/sessions/resolve", .post, sessions.resolve)
        add(router, "/sessions/lock", .post, sessions.lock)
        add(router, "/sessions/:sid", .get, sessions.show)
        add(router, "/sessions/:sid/events", .get, events.follow)
        add(router, "/sessions/:sid/cancel", .post, sessions.cancel)
        add(router, "/sessions/:sid/eids", .post, sessions.rotate)
        add(router, "/sessions/:sid/unlock", .post, sessions.unlock)
        add(router, "/sessions/:sid/refund", .post, refunds.refund)
        add(router, "/wallet/me", .get, wallet.me)
        add(router, RouterPath(WalletRoutes.sendPath), .post, wallet.send)
        add(router, "/wallet/sends/:key", .get, wallet.outcome)
        add(router, "/api/wallet/balance", .get, history.balance)
        add(router, "/api/wallet/transactions", .get, history.transactions)
        add(router, "/healthz", [.get, .head], health.alive)
        add(router, "/readyz", [.get, .head], health.ready)
        add(router, "/metrics", .get, metrics.page)
        add(router, "/openapi.yaml", .get, health.description)
        return router
    }

    private func add(
        _ router: Router<ServerContext>,
        _ path: RouterPath,
        _ method: HTTPRequest.Method,
        _ handler: @escaping Handler
    ) {
        add(router, path, [method], handler)
    }

    private func add(
        _ router: Router<ServerContext>,
        _ path: RouterPath,
        _ methods: [HTTPRequest.Method],
        _ handler: @escaping Handler
    ) {
        for method in methods { router.on(path, method: method, use: handler) }
        let names = methods.map(\.rawValue)
        for other in Self.methods where !methods.contains(other) {
            router.on(path, method: other) { _, _ -> Response in
                throw Refused(
                    problem: Problem(
                        .methodNotAllowed,
                        detail: "This address takes \(names.joined(separator: " and ")) only."
                    ),
                    headers: [.allow: names.joined(separator: ", ")]
                )
            }
        }
    }
}
