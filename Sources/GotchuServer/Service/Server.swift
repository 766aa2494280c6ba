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

/// The whole server: a store, its writer and the HTTP server, in one service group.
struct Server: Sendable {
    /// The time limit of a stop: enough for queued commits, well below systemd's limit.
    private static let longestShutdown: Duration = .seconds(8)
    /// The divisor that gives one address's share of all connections.
    private static let addressShare = 8
    static let name = "gotchu-server"

    let options: ServerOptions
    let logger: Logger

    /// Serves until a stop signal.
    ///
    /// - Parameters:
    ///   - ready: Called with the port once requests are answered.
    ///   - stopping: Called when a stop begins.
    func run(
        ready: @escaping @Sendable (Int) async -> Void,
        stopping: @escaping @Sendable () -> Void
    ) async throws {
        // Wallets are private: the database and its log are readable by this user alone.
        umask(0o077)
        let books = try await OpenedDatabase.open(
            options.database,
            isDevelopment: options.developmentOpening != nil,
            logger: logger
        )
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
            own: OwnTokens(books.secret),
            issuer: issuer,
            users: UserDirectory(ledger: ledger),
            clock: { ledger.now }
        )
        let (provider, readiness) = (provider(of: issuer), Readiness(ledger: ledger))
        let stripe = options.stripe.map { stripe in
            StripeWork(stripe, options.funding.payouts, ledger, tokens.own, logger)
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
        // Stopped in reverse: first streams, which would never end by themselves, then no more
        // requests are accepted, then the queue is finished, then the store ends.
        let issuers = [issuer?.keys as (any Service)?, provider].compactMap(\.self)
        let drain = ReadinessDrain(readiness: readiness, pause: limits.drain, notice: stopping)
        let front: [any Service] = [self.front(routes, ready), ledger.feed, drain]
        let workers = [webhooks(books.store, ledger)] + (stripe?.services ?? [])
        let behind = ledger.services + issuers + workers + front
        // A store that fails ends the server, but waiting callers are answered first.
        let store = ServiceGroupConfiguration.ServiceConfiguration(
            named: books.store,
            onFailure: .gracefullyShutdownGroup
        )
        var configuration = ServiceGroupConfiguration(
            services: [store] + behind.map { .init(named: $0) },
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: logger
        )
        configuration.maximumGracefulShutdownDuration = Self.longestShutdown + limits.drain
        try await ServiceGroup(configuration: configuration).run()
    }

    /// The OpenID issuer whose tokens are accepted, with a new key ring.
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

    /// The client that logs people in to the pages at the issuer's.
    private func provider(of issuer: OpenIDIssuer?) -> OpenIDClient? {
        guard let web = options.web, let client = web.client, let issuer else { return nil }
        return OpenIDClient(client, keys: issuer.keys, site: web.site, logger: logger)
    }

    /// Makes the HTTP server, which calls `ready` with its port once it answers.
    private func front(
        _ routes: Routes,
        _ ready: @escaping @Sendable (Int) async -> Void
    ) -> any Service {
        let limits = options.limits
        let responder = routes.router().buildResponder()
        let front = HTTPFront(
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
            metrics: routes.requests,
            logger: logger
        )
        return front.server(
            configuration: ServerConfiguration(
                address: .hostname(options.listen.host, port: options.listen.port),
                availableConnectionsDelegate: MaximumAvailableConnections(
                    OpenFiles.allow(limits.connections),
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

/// Delays the shutdown of the other services: the service started last is stopped first. For a
/// while everything is answered as before, but `/readyz` says no, so that a load balancer sends new
/// requests elsewhere.
private struct ReadinessDrain: Service {
    let readiness: Readiness
    let pause: Duration
    let notice: @Sendable () -> Void

    func run() async throws {
        try await gracefulShutdown()
        notice()
        readiness.drain()
        // For load balancers that asked /readyz just before: none reports that it has noticed.
        try? await Task.sleep(for: pause)
    }
}
