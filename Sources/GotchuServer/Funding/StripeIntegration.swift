internal import AsyncHTTPClient
internal import Crypto
internal import Funding
internal import GotchuAPI
internal import GotchuCore
internal import Ledger
internal import Logging
internal import ServiceLifecycle
internal import Stripe

/// Stripe as this server uses it: the calls that requests wait for, and the background work.
struct StripeIntegration: Sendable {
    /// The maximum time that a request waits for a refresh.
    private static let refreshTimeout: Duration = .seconds(2)

    let options: StripeOptions
    private let refresher: RecordRefresher
    private let http: HTTPClient
    private let logger: Logger
    let metrics: FundingMetrics
    let refreshQueue: SharedRefreshQueue
    private let ticketKey: SymmetricKey
    private let payouts: PayoutTerms

    /// - Parameter payouts: The payout terms. They are stored in the ledger for the commands.
    init(
        _ options: StripeOptions,
        _ payouts: PayoutTerms,
        _ ledger: Ledger,
        _ issuer: LocalTokenIssuer,
        _ logger: Logger
    ) {
        self.options = options
        self.payouts = payouts
        ticketKey = PayeeTicket.key(of: issuer)
        self.logger = logger
        let (metrics, gate) = (FundingMetrics(), ProviderGate(logger))
        self.metrics = metrics
        refreshQueue = SharedRefreshQueue()
        http = HTTPClient(configuration: StripeClient.httpConfiguration)
        let client = StripeClient(
            address: options.access.address,
            secret: options.access.secret,
            http: http,
            onOutcome: { report in
                metrics.countCall(report)
                gate.record(report)
            }
        )
        refresher = RecordRefresher(
            ledger: ledger,
            provider: StripeProvider(client: client, site: options.site),
            gate: gate,
            metrics: metrics,
            logger: logger
        )
    }

    /// The services to run, in the order of their start.
    var services: [any Service] {
        let worker = FundingWorker(
            ledger: refresher.ledger,
            refresher: refresher,
            refreshQueue: refreshQueue,
            isLive: isLive,
            payouts: payouts,
            logger: logger
        )
        return [HTTPClientService(client: http), worker]
    }

    /// A Boolean that is true if the key moves real money.
    var isLive: Bool { options.access.secret.isLive }
    /// The key with which apps show the provider's payment form.
    var publishableKey: String? { options.publishableKey?.text }

    /// The origins of the Stripe pages to which users are redirected.
    var pageOrigins: [String] {
        let address = options.access.address
        return address == StripeClient.address
            ? ["https://checkout.stripe.com", "https://connect.stripe.com"] : [address]
    }

    /// Makes the calls that a new deposit needs, and measures their time.
    ///
    /// - Returns: The client secret or page address of the last call, if it returned one.
    func open(_ deposit: RecordID) async -> String? {
        let start = MonotonicTime.now
        let secret = await refreshNow(deposit)
        metrics.recordOpening(in: .now - start)
        return secret
    }

    /// Refreshes records, and waits for the refreshes until the timeout of a request.
    func refresh(_ records: [RecordID]) async {
        guard refresher.gate.isOpen else { return }
        await refreshQueue.refresh(records, within: Self.refreshTimeout)
    }

    /// Makes the calls that a record needs now. Stops after a call without a reply, and after four
    /// calls.
    ///
    /// - Returns: The client secret or page address of the last call, if it returned one.
    func refreshNow(_ record: RecordID) async -> String? {
        do {
            return try await refresher.refresh(record)?.secret
        } catch {
            // The worker retries the refresh. The caller gets the stored state.
            refresher.log(error, of: record)
            return nil
        }
    }

    /// Creates a new link to the provider's onboarding pages.
    ///
    /// - Parameter ticket: The payee's ticket; `nil` for a logged-in user.
    /// - Returns: The link, or a problem: 502 or 503.
    func link(
        of account: String,
        user: UserID,
        with ticket: PayeeTicket?
    ) async -> Result<ConnectLinkReply, Problem> {
        let now = refresher.ledger.now
        let next = ticket?.renewed(at: now) ?? PayeeTicket(for: user, .renewal, at: now)
        guard refresher.gate.isOpen else { return .failure(.providerUnavailable) }
        let back = next.path(by: ticketKey)
        return Self.reply(to: await refresher.provider.link(to: account, back: back))
    }

    /// Creates a new link to the provider's dashboard, where an onboarded payee changes the bank
    /// account.
    ///
    /// - Returns: The link, or a problem: 502 or 503.
    func dashboardLink(of account: String) async -> Result<ConnectLinkReply, Problem> {
        guard refresher.gate.isOpen else { return .failure(.providerUnavailable) }
        return Self.reply(to: await refresher.provider.dashboardLink(of: account))
    }

    private static func reply(
        to outcome: StripeOutcome<AccountLink>
    ) -> Result<ConnectLinkReply, Problem> {
        switch outcome {
        case .done(let link):
            return .success(ConnectLinkReply(url: link.url, expiresAt: link.expiresAt))
        case .refused(let problem), .insufficient(let problem), .keyReused(let problem):
            return .failure(.providerRefused(problem.message))
        case .unknown, .unresolved, .throttled, .misconfigured:
            return .failure(.providerUnavailable)
        }
    }
}

/// Shuts the HTTP client down with the server.
private struct HTTPClientService: Service {
    let client: HTTPClient

    func run() async throws {
        // Continues also if another service failed: a client that is released without a shutdown
        // stops the program.
        try? await gracefulShutdown()
        try await client.shutdown()
    }
}
