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
    let deposits: DepositPages
    let payouts: PayoutPages
    let setUp: SetUpPages
    let contests: ContestPages?
    let organizers: OrganizerPages?

    init(
        _ options: WebOptions,
        _ desk: FundingDesk,
        _ store: any Store,
        _ authentication: CallerAuthentication,
        _ development: DevelopmentLogin?,
        _ provider: OpenIDClient?,
        _ contests: ContestRoutes?
    ) {
        let ledger = desk.ledger
        let devices = DeviceRegistry(store)
        gate = WebGate(
            site: options.site,
            isDevelopment: development != nil,
            sessions: WebSessionRegistry(store),
            outbox: Outbox(store),
            devices: devices,
            own: authentication.tokens.own,
            limits: authentication.limits,
            clock: { ledger.now },
            hidden: { user in
                let hasContests = contests?.options.users.contain(user) ?? false
                var hidden: Set<WebPage.Section> = hasContests ? [] : [.contests]
                if !desk.isOpen(to: user) { hidden.insert(.payouts) }
                return hidden
            }
        )
        login = WebLogin(
            gate: gate,
            development: development,
            provider: provider,
            users: authentication.tokens.users,
            store: store
        )
        earnings = EarningsPages(ledger: ledger, desk: desk)
        payments = PaymentPages(gate: gate, ledger: ledger)
        self.devices = DevicePages(gate: gate, devices: devices)
        webhooks = WebhookPages(gate: gate)
        requests = PayRoutes(gate: gate, ledger: ledger)
        deposits = DepositPages(gate: gate, desk: desk, store: store)
        wallet = WalletPage(ledger: ledger, store: store, deposits: deposits)
        payouts = PayoutPages(gate: gate, desk: desk)
        setUp = SetUpPages(
            desk: desk,
            limits: authentication.limits,
            key: PayeeTicket.key(of: authentication.tokens.own),
            origin: options.site.origin
        )
        self.contests = contests.map { [gate] in ContestPages(gate: gate, contests: $0) }
        organizers = contests.map { [gate] in OrganizerPages(gate: gate, contests: $0) }
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
        registerFunding(on: router)
        contests?.register(on: router)
        organizers?.register(on: router)
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
        page("\(WebPath.devices)/:device/revoke", devices.confirm)
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

    /// Registers the pages by which money comes in and goes out. Where there is no way, each says
    /// which setting is missing.
    private func registerFunding(on router: Router<ServerContext>) {
        router.post(
            RouterPath(WebPath.deposits),
            use: gate.form(needing: .payer, deposits.add)
        )
        let deposit = "\(WebPath.deposits)/:id"
        router.post(RouterPath("\(deposit)/pay"), use: gate.form(needing: .payer, deposits.pay))
        router.post(
            RouterPath("\(deposit)/cancel"),
            use: gate.form(needing: .payer, deposits.cancel)
        )
        router.get(RouterPath(WebPath.payouts), use: gate.page(needing: .payouts, payouts.show))
        router.post(
            RouterPath("\(WebPath.payouts)/setup"),
            use: gate.form(needing: .payouts, payouts.setUp)
        )
        router.get(
            RouterPath(WebPath.withdrawal),
            use: gate.page(needing: .payouts, payouts.confirm)
        )
        router.post(
            RouterPath(WebPath.withdrawal),
            use: gate.form(needing: .payouts, payouts.withdraw)
        )
        router.post(
            RouterPath("\(WebPath.payouts)/:id/cancel"),
            use: gate.form(needing: .payouts, payouts.cancel)
        )
        ProviderReturns(gate: gate, setUp: setUp).register(on: router)
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
