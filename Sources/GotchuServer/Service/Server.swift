internal import CLinux
internal import Glibc
internal import GotchuCore
internal import Hummingbird
internal import HummingbirdCore
internal import Ledger
internal import Logging
internal import NIOCore
internal import ServiceLifecycle
internal import UnixSignals

/// The whole server: a store, its writer, and what answers on the network, in one service group.
struct Server: Sendable {
    /// How long a stop may take: enough for queued commits, well below what systemd waits.
    private static let longestShutdown: Duration = .seconds(8)
    /// An idle connection is closed after this long.
    private static let idleSeconds: Int64 = 120
    /// Further clients wait in the kernel's queue. Below what the unit file lets be open.
    private static let connectionLimit = 14_000
    /// What may be open besides connections: the database, logs, threads' wake-ups.
    private static let otherFiles = 500
    private static let name = "gotchu-server"

    let options: ServerOptions
    let logger: Logger

    /// Serves until a signal asks it to stop.
    ///
    /// - Parameters:
    ///   - ready: Called with the port once requests are answered.
    ///   - stopping: Called when a stop begins.
    func run(
        ready: @escaping @Sendable (Int) async -> Void,
        stopping: @escaping @Sendable () -> Void
    ) async throws {
        // Wallets are nobody else's business: the database and its log are made for this user
        // alone.
        umask(0o077)
        let books = try await OpenBooks.open(
            options.database,
            isDevelopment: options.developmentOpening != nil,
            logger: logger
        )
        let ledger = Ledger(store: books.store, logger: logger)
        let issuer = options.openID.map { settings in
            OpenIDIssuer(
                name: settings.issuer,
                audience: settings.audience,
                keys: KeyRing(settings.keys, logger: logger)
            )
        }
        let tokens = Tokens(
            own: OwnTokens(books.secret),
            issuer: issuer,
            users: UserDirectory(ledger: ledger)
        )
        let routes = Routes(ledger: ledger, devices: books.store, tokens: tokens, options: options)
        let webhooks = WebhookWorker(
            store: books.store,
            sender: WebhookSender(isDevelopment: options.developmentOpening != nil),
            logger: logger
        )
        let application = Application(
            router: routes.router(),
            server: Self.http,
            configuration: ApplicationConfiguration(
                address: .hostname(options.listen.host, port: options.listen.port),
                serverName: Self.name,
                availableConnectionsDelegate: MaximumAvailableConnections(
                    Self.allowedConnections,
                    logger: logger
                )
            ),
            onServerRunning: { channel in
                await ready(channel.localAddress?.port ?? options.listen.port)
            },
            logger: logger
        )
        // Stopped in reverse: first what would never end by itself, then no more requests, then the
        // queue is finished, then the store.
        let keys: [any Service] = issuer.map { [$0.keys] } ?? []
        let front: [any Service] = [application, ledger.feed, StopNotice(notice: stopping)]
        var configuration = ServiceGroupConfiguration(
            services: [books.store] + ledger.services + keys + [webhooks] + front,
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: logger
        )
        configuration.maximumGracefulShutdownDuration = Self.longestShutdown
        try await ServiceGroup(configuration: configuration).run()
    }
}

extension Server {
    /// As many as the system lets this process hold, at most the limit.
    fileprivate static var allowedConnections: Int {
        let files = Int(clinux_allow_open_files(Int64(connectionLimit + otherFiles)))
        return max(1, files - otherFiles)
    }

    fileprivate static var http: HTTPServerBuilder {
        HTTPServerBuilder { responder in
            LoopChannel(
                HTTP1Channel(
                    responder: responder,
                    configuration: .init(idleTimeout: .seconds(idleSeconds))
                )
            )
        }
    }
}

/// Says that a stop has begun: the last service started is the first to hear of it.
private struct StopNotice: Service {
    let notice: @Sendable () -> Void

    func run() async throws {
        try await gracefulShutdown()
        notice()
    }
}
