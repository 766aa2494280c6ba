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
    let contests: ContestPages?
    let organizers: OrganizerPages?

    init(
        _ options: WebOptions,
        _ funding: FundingOperations,
        _ store: any Store,
        _ authentication: CallerAuthentication,
        _ development: DevelopmentLogin?,
        _ provider: OpenIDClient?,
        _ contests: ContestRoutes?
    ) {
        let ledger = funding.ledger
        let devices = DeviceRegistry(store)
        gate = WebGate(
            site: options.site,
            isDevelopment: development != nil,
            sessions: WebSessionRegistry(store),
            outbox: Outbox(store),
            devices: devices,
            localIssuer: authentication.tokens.localIssuer,
            limits: authentication.limits,
            clock: { ledger.now },
            hidden: { user in
                let hasContests = contests?.options.users.contains(user) ?? false
                var hidden: Set<WebPage.Section> = hasContests ? [] : [.contests]
                if !funding.isOpen(to: user) { hidden.insert(.payouts) }
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
        earnings = EarningsPages(
            ledger: ledger,
            funding: funding,
            heavyReads: authentication.limits.heavyReads
        )
        payments = PaymentPages(gate: gate, ledger: ledger)
        self.devices = DevicePages(gate: gate, devices: devices, ledger: ledger)
        webhooks = WebhookPages(gate: gate)
        requests = PayRoutes(gate: gate, ledger: ledger)
        deposits = DepositPages(gate: gate, funding: funding, store: store)
        wallet = WalletPage(ledger: ledger, store: store, deposits: deposits)
        payouts = PayoutPages(gate: gate, funding: funding)
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
        registerPages(on: router)
        contests?.register(on: router)
        organizers?.register(on: router)
    }

    /// Registers the pages of payees, payers, deposits and payouts. If deposits and payouts are not
    /// configured, their forms and the payout pages reply with a problem that names the setting.
    private func registerPages(on router: Router<ServerContext>) {
        func page(
            _ path: String,
            needing scope: Scope? = nil,
            _ body: @escaping @Sendable (WebVisit) async throws -> Response
        ) {
            router.get(RouterPath(path), use: gate.page(needing: scope, body))
        }
        func form(
            _ path: String,
            needing scope: Scope? = nil,
            _ body: @escaping @Sendable (inout WebForm) async throws -> Response
        ) {
            router.post(RouterPath(path), use: gate.form(needing: scope, body))
        }
        page(WebPath.earnings, needing: .payee) { [earnings] visit in
            try await HeavyReads.runOnPool { try await earnings.show(visit) }
        }
        page(WebPath.earningsFile, needing: .payee, earnings.file)
        page("\(WebPath.payments)/:sid", needing: .payee, payments.show)
        form("\(WebPath.payments)/:sid/refund", needing: .payee, payments.refund)
        page(WebPath.devices, needing: .payee, devices.list)
        form(WebPath.devices, needing: .payee, devices.add)
        page("\(WebPath.devices)/:device/revoke", needing: .payee, devices.confirm)
        form("\(WebPath.devices)/:device/revoke", needing: .payee, devices.revoke)
        page(WebPath.webhooks, needing: .payee, webhooks.list)
        form("\(WebPath.webhooks)/:endpoint/resend", needing: .payee, webhooks.resend)
        page(WebPath.start) { visit in
            gate.redirect(to: visit.allows(.payee) ? WebPath.earnings : WebPath.wallet)
        }
        form(WebPath.logout) { try await gate.end($0.visit) }
        page(WebPath.wallet, wallet.show)
        router.get(RouterPath(WebPath.enterEID), use: gate.open(requests.enter))
        router.get("/p/:eid", use: gate.open(requests.show))
        // The QR code's address is upper case.
        router.get("/P/:eid", use: gate.open(requests.show))
        form("/p/:eid", needing: .payer, requests.pay)
        page("/p/:eid/result", requests.result)
        form(WebPath.deposits, needing: .payer, deposits.add)
        form("\(WebPath.deposits)/:id/pay", needing: .payer, deposits.pay)
        form("\(WebPath.deposits)/:id/cancel", needing: .payer, deposits.cancel)
        page(WebPath.payouts, needing: .payouts, payouts.show)
        form("\(WebPath.payouts)/setup", needing: .payouts, payouts.setUp)
        page(WebPath.withdrawal, needing: .payouts, payouts.confirm)
        form(WebPath.withdrawal, needing: .payouts, payouts.withdraw)
        form("\(WebPath.payouts)/:id/cancel", needing: .payouts, payouts.cancel)
    }

    /// Serves style sheets, scripts and pictures. They are public and never change under their
    /// addresses.
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
                .known("Cross-Origin-Resource-Policy"): "same-origin",
            ],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: asset.bytes))
        )
    }
}
