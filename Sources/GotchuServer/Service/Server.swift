internal import Devices
internal import Glibc
internal import Hummingbird
internal import HummingbirdCore
internal import Ledger
internal import LedgerStore
internal import Logging
internal import NIOCore
internal import NIOPosix
internal import Outbox
internal import Payments
internal import ServiceLifecycle
internal import ServiceProcess
internal import UnixSignals

/// The whole server: the store, the ledger's writer, the workers and the HTTP server, in one
/// service group.
struct Server: Sendable {
    /// The time limit of a shutdown, without the drain. It is enough for the queued commits.
    private static let shutdownTimeout: Duration = .seconds(8)
    /// The divisor for the connections of one address, which may use 1/8 of all connections.
    private static let addressShare = 8
    static let name = "gotchu-server"

    let options: ServerOptions
    let logger: Logger

    /// Serves until a shutdown signal.
    ///
    /// - Parameters:
    ///   - ready: Called with the port once requests are answered.
    ///   - stopping: Called when a shutdown starts.
    func run(
        ready: @escaping @Sendable (Int) async -> Void,
        stopping: @escaping @Sendable () -> Void
    ) async throws {
        // Wallets are private: only the service's Unix user may read the database's files.
        umask(0o077)
        let books = try await OpenedDatabase.open(
            options.database,
            isDevelopment: options.developmentOpening != nil,
            logger: logger
        )
        if options.stripe == nil { try await books.store.warnOfUnservedFunding(logger) }
        let limits = options.limits
        let ledger = Ledger(
            store: books.store,
            kinds: RecordKind.all,
            logger: logger,
            queueLimit: limits.queue,
            watchersPerLogin: limits.streamsPerLogin
        )
        let issuer = self.issuer
        let tokens = Tokens(
            localIssuer: LocalTokenIssuer(books.secret),
            issuer: issuer,
            users: UserDirectory(ledger: ledger),
            clock: { ledger.now }
        )
        let (provider, readiness) = (provider(of: issuer), Readiness(ledger: ledger))
        let stripe = options.stripe.map {
            StripeIntegration($0, options.funding.payouts, ledger, tokens.localIssuer, logger)
        }
        let routes = Routes(
            ledger: ledger,
            devices: DeviceRegistry(books.store),
            store: books.store,
            tokens: tokens,
            readiness: readiness,
            options: options,
            provider: provider,
            stripe: stripe
        )
        // The services stop in reverse order: the drain, the streams (which do not end by
        // themselves), the HTTP server, the workers, the issuers, the ledger's queue, the store.
        let issuers = [issuer?.keys as (any Service)?, provider].compactMap(\.self)
        let drain = ReadinessDrain(readiness: readiness, pause: limits.drain, notice: stopping)
        let workers = [webhooks(books.store, ledger)] + (stripe?.services ?? [])
        let front: [any Service] = [httpServer(routes, ready), ledger.feed, drain]
        let services: [any Service] = [books.store] + ledger.services + issuers + workers + front
        try await group(of: services).run()
    }

    /// Returns the group of the services, which are in the order of their start.
    private func group(of services: [any Service]) -> ServiceGroup {
        var configuration = ServiceGroupConfiguration(
            services: services.map { service in
                // If the store fails, or Stripe's key is of another account, the server stops, but
                // waiting callers get their replies first.
                let isGraceful = service is any Store || service is FundingWorker
                return ServiceGroupConfiguration.ServiceConfiguration(
                    named: service,
                    onFailure: isGraceful ? .gracefullyShutdownGroup : .cancelGroup
                )
            },
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: logger
        )
        configuration.maximumGracefulShutdownDuration = Self.shutdownTimeout + options.limits.drain
        return ServiceGroup(configuration: configuration)
    }

    /// The OpenID issuer whose tokens are accepted; `nil` if not configured. Each access creates a
    /// new key ring.
    private var issuer: OpenIDIssuer? {
        options.openID.map { settings in
            OpenIDIssuer(
                name: settings.issuer,
                audience: settings.audience,
                keys: KeyRing(settings.keys, logger: logger)
            )
        }
    }

    private func webhooks(_ store: any Store, _ ledger: Ledger) -> WebhookWorker {
        WebhookWorker(
            store: Outbox(store),
            sender: WebhookSender(isDevelopment: options.developmentOpening != nil),
            clock: { ledger.now },
            logger: logger
        )
    }

    /// Returns the OpenID client that logs web users in at the issuer; `nil` if not configured.
    private func provider(of issuer: OpenIDIssuer?) -> OpenIDClient? {
        guard let web = options.web, let client = web.client, let issuer else { return nil }
        return OpenIDClient(client, keys: issuer.keys, site: web.site, logger: logger)
    }

    /// Creates the HTTP server, which calls `ready` with its port once it accepts requests.
    private func httpServer(
        _ routes: Routes,
        _ ready: @escaping @Sendable (Int) async -> Void
    ) -> any Service {
        let limits = options.limits
        let responder = routes.router().buildResponder()
        let connector = HTTPConnector(
            responder: { [logger] request, channel in
                let source = ApplicationRequestContextSource(channel: channel, logger: logger)
                return try await responder.respond(
                    to: request,
                    context: ServerContext(source: source)
                )
            },
            connections: ConnectionCounter(
                limit: max(1, limits.connections / Self.addressShare),
                exempt: limits.proxies
            ),
            acceptsStripe: options.stripe?.webhookSecrets.isEmpty == false,
            metrics: routes.requests,
            logger: logger
        )
        return connector.server(
            configuration: ServerConfiguration(
                address: .hostname(options.listen.host, port: options.listen.port),
                availableConnectionsDelegate: MaximumAvailableConnections(
                    OpenFiles.raiseLimit(toHold: limits.connections),
                    logger: logger
                )
            ),
            onServerRunning: { channel in
                await ready(channel.localAddress?.port ?? options.listen.port)
            },
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
            logger: logger
        )
    }
}

/// Delays the shutdown of the other services. The service that is started last is stopped first, so
/// this one must be the last. During the delay requests are served as before, but `/readyz` reports
/// not ready. A load balancer then sends new requests elsewhere.
private struct ReadinessDrain: Service {
    let readiness: Readiness
    let pause: Duration
    let notice: @Sendable () -> Void

    func run() async throws {
        try await gracefulShutdown()
        notice()
        readiness.drain()
        // Load balancers see the change at their next /readyz request. None confirms it, so the
        // wait is fixed.
        try? await Task.sleep(for: pause)
    }
}
