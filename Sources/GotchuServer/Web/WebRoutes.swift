internal import Devices
internal import GotchuAPI
internal import GotchuCore
internal import HTTPTypes
internal import Hummingbird
internal import Ledger
internal import LedgerStore
internal import NIOCore
internal import Outbox
internal import Pages
internal import WebSessions

/// The addresses of the pages.
struct WebRoutes: Sendable {
    let gate: WebGate
    let login: WebLogin
    let earnings: EarningsPages
    let payments: PaymentPages
    let devices: DevicePages
    let webhooks: WebhookPages
    let requests: PayRoutes
    let wallet: WalletPage

    init(
        _ options: WebOptions,
        ledger: Ledger,
        store: any Store,
        tokens: Tokens,
        limits: Limits,
        development: DevelopmentLogin?,
        provider: OpenIDClient?
    ) {
        gate = WebGate(
            site: options.site,
            isDevelopment: development != nil,
            sessions: WebSessionRegistry(store),
            outbox: Outbox(store),
            own: tokens.own,
            limits: limits,
            clock: { ledger.now }
        )
        login = WebLogin(
            gate: gate,
            development: development,
            provider: provider,
            users: tokens.users,
            store: store
        )
        earnings = EarningsPages(ledger: ledger)
        payments = PaymentPages(gate: gate, ledger: ledger)
        self.devices = DevicePages(gate: gate, devices: DeviceRegistry(store))
        webhooks = WebhookPages(gate: gate)
        requests = PayRoutes(gate: gate, ledger: ledger)
        wallet = WalletPage(ledger: ledger, store: store)
    }

    func register(on router: Router<ServerContext>) {
        router.get("/", use: gate.open { _, _ in gate.redirect(to: WebPath.start) })
        router.get("/assets/:name", use: Self.asset)
        router.get(RouterPath(WebPath.login), use: gate.open(login.page))
        if login.development != nil {
            router.post(
                RouterPath(WebPath.developmentLogin),
                use: gate.open(login.developmentLogin)
            )
        }
        if login.provider != nil {
            router.get(RouterPath(WebPath.providerLogin), use: gate.open(login.begin))
            router.get(RouterPath(WebPath.callback), use: gate.open(login.callback))
        }
        registerMerchant(on: router)
        registerPayer(on: router)
    }

    /// Registers the pages of payees.
    private func registerMerchant(on router: Router<ServerContext>) {
        func page(_ path: String, _ body: @escaping @Sendable (WebVisit) async throws -> Response) {
            router.get(RouterPath(path), use: gate.page(needing: .payee, body))
        }
        func form(
            _ path: String,
            _ body: @escaping @Sendable (inout WebForm) async throws -> Response
        ) {
            router.post(RouterPath(path), use: gate.form(needing: .payee, body))
        }
        page(WebPath.earnings, earnings.show)
        page(WebPath.earningsFile, earnings.file)
        page("\(WebPath.payments)/:sid", payments.show)
        form("\(WebPath.payments)/:sid/refund", payments.refund)
        page(WebPath.devices, devices.list)
        form(WebPath.devices, devices.add)
        form("\(WebPath.devices)/:device/revoke", devices.revoke)
        page(WebPath.webhooks, webhooks.list)
        form("\(WebPath.webhooks)/:endpoint/resend", webhooks.resend)
    }

    /// Registers the pages of people who pay, and those of everybody.
    private func registerPayer(on router: Router<ServerContext>) {
        router.get(
            RouterPath(WebPath.start),
            use: gate.page { visit in
                gate.redirect(to: visit.allows(.payee) ? WebPath.earnings : WebPath.wallet)
            }
        )
        router.post(RouterPath(WebPath.logout), use: gate.form { try await gate.end($0.visit) })
        router.get(RouterPath(WebPath.wallet), use: gate.page(wallet.show))
        router.get(RouterPath(WebPath.enterEID), use: gate.open(requests.enter))
        router.get("/p/:eid", use: gate.open(requests.show))
        // The QR code's address is upper case.
        router.get("/P/:eid", use: gate.open(requests.show))
        router.post("/p/:eid", use: gate.form(needing: .payer, requests.pay))
        router.get("/p/:eid/result", use: gate.page(requests.result))
    }

    /// Style sheets, scripts and pictures: for everybody, and never changed under their addresses.
    @Sendable private static func asset(
        _ request: Request,
        _ context: ServerContext
    ) async throws -> Response {
        guard let asset = Asset.all[request.uri.path] else {
            throw Problem(.notFound, detail: "There is nothing at this address.")
        }
        return Response(
            status: .ok,
            headers: [
                .contentType: asset.type,
                .contentLength: String(asset.bytes.count),
                .cacheControl: Asset.caching,
                .xContentTypeOptions: "nosniff",
                .known("Cross-Origin-Resource-Policy"): "same-origin",
            ],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: asset.bytes))
        )
    }
}
