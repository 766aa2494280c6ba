import AsyncHTTPClient
import CLinux
import GotchuAPI
import LocalAPI
import Logging
import Pages
import PaymentClient
import Radio
import Screens
import ServiceLifecycle
import ServiceProcess
import Synchronization
import UnixSignals

/// The services of gotchud. Each depends only on the services before it.
struct Daemon {
    private let services: [any Service]
    private let http: HTTPClient
    private let journal: Journal
    private let logger: Logger

    /// The maximum duration of a shutdown. It is less than the unit's `TimeoutStopSec`.
    private static let shutdownLimit: Duration = .seconds(15)

    /// - Parameters:
    ///   - configuration: The configuration at the start.
    ///   - radio: The radio that the configuration selects.
    ///   - http: The settings of calls to the payment server.
    ///   - readConfiguration: Reads the configuration again, for a reload.
    ///   - hangups: The SIGHUP signals. They are trapped before anything else starts.
    ///   - ring: The newest lines of `logger`, for a bug report.
    init(
        _ configuration: DaemonConfiguration,
        radio: any Radio,
        http httpConfiguration: HTTPClient.Configuration,
        readConfiguration: @escaping @Sendable () throws(ConfigurationError) -> DaemonConfiguration,
        credentials: String?,
        hangups: UnixSignalsSequence,
        ring: LogRing,
        logger: Logger
    ) throws(JournalFailure) {
        self.logger = logger
        journal = try Journal(folder: configuration.stateDirectory)
        if journal.wasTorn { logger.warning("A torn last line of the journal was cut off") }
        http = HTTPClient(configuration: httpConfiguration)
        let core = DaemonCore(
            configuration,
            http: http,
            journal: journal,
            credentials: credentials,
            logger: logger
        )
        let parts = DaemonBackend(
            core,
            journal: journal,
            radio: radio,
            readConfiguration: readConfiguration,
            ring: ring
        )
        let notifier = SystemdNotifier.current
        let supervisor = Supervisor(
            notifier: notifier,
            status: core.status,
            presences: parts.presenceService,
            reload: parts.reloading,
            hangups: hangups
        )
        // The services are in dependency order and stop in reverse order.
        services =
            [
                RadioService(radio) { parts.presenceService.apply($0) }, parts.presenceService,
                Self.monitor(parts), JournalWatch(journal: journal, status: core.status),
                parts.requestService,
                parts.paymentService, parts.withdrawalService, parts.contestEntryService,
                Self.display(core), supervisor,
                Self.server(parts, notifier),
            ] + Self.ports(parts)
    }

    private static func monitor(_ parts: DaemonBackend) -> ServerMonitor {
        let core = parts.core
        return ServerMonitor(
            client: core.client,
            calls: core.calls,
            isLoginRefused: { core.tokens.isRefused },
            checkLogin: { await core.access.checkLogin() },
            hasOpenRequest: { await parts.requestService.hasOpenRequest },
            logger: core.logger
        ) { core.status.apply(server: $0) }
    }

    private static func display(_ core: DaemonCore) -> DisplayService {
        DisplayService(
            display: core.display,
            isExpected: core.configuration.screens.display != nil
        ) { core.status.apply(isDisplayMissing: $0) }
    }

    /// Returns the HTTP servers for browsers and scrapers on this machine.
    private static func ports(_ parts: DaemonBackend) -> [any Service] {
        let core = parts.core
        let settings = core.configuration.screens
        var services: [any Service] = []
        if let address = settings.display {
            let screen = DisplayScreen(page: core.display.page, feed: core.display.feed)
            services.append(screenServer(.display, at: address, parts, routes: screen.add))
        }
        if let address = settings.till {
            let till = TillRoutes(
                calls: LocalCalls(backend: parts, hub: core.hub),
                tills: parts.tills,
                page: TillPage(
                    shop: settings.appearance.shop,
                    language: settings.appearance.languages[0]
                )
            )
            services.append(screenServer(.till, at: address, parts, routes: till.add))
        }
        if let address = core.configuration.metrics {
            let server = MetricsServer(
                address: address,
                logger: core.logger,
                onServed: { core.status.apply(isServed: $0, "metrics", at: address) },
                page: { await parts.metrics() }
            )
            services.append(server)
        }
        return services
    }

    private static func screenServer(
        _ screen: Screen,
        at address: LoopbackAddress,
        _ parts: DaemonBackend,
        routes: @escaping @Sendable (LevelledRouter) -> Void
    ) -> ScreenServer {
        ScreenServer(
            screen,
            at: address,
            policy: { parts.reloading.access.policy },
            version: GotchuVersion.current,
            logger: parts.core.logger,
            onServed: { parts.core.status.apply(isServed: $0, "screens.\(screen)", at: address) },
            routes: routes
        )
    }

    private static func server(
        _ parts: DaemonBackend,
        _ notifier: SystemdNotifier
    ) -> LocalServer {
        let core = parts.core
        let path = core.configuration.socketPath
        return LocalServer(
            path: path,
            groupID: AccessPolicy.groupID(named: core.configuration.group),
            policy: { parts.reloading.access.policy },
            backend: parts,
            hub: core.hub,
            display: core.display.feed,
            version: GotchuVersion.current,
            traffic: parts.traffic,
            logger: core.logger
        ) {
            core.logger.notice("gotchud is listening", metadata: ["socket": "\(path)"])
            notifier.ready(status: core.status.reply.summary)
            // About half of the memory mapped by now was needed only for the start.
            clinux_release_code()
        }
    }

    /// Runs until SIGTERM, SIGINT or the failure of a service. Then all services stop.
    func run() async throws {
        var configuration = ServiceGroupConfiguration(
            services: services.map { .init(named: $0) },
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: logger
        )
        configuration.maximumGracefulShutdownDuration = Self.shutdownLimit
        let result: Result<Void, any Error>
        do {
            try await ServiceGroup(configuration: configuration).run()
            result = .success(())
        } catch {
            result = .failure(error)
        }
        await journal.close()
        try? await http.shutdown()
        try result.get()
    }
}

extension RadioSpecification {
    /// The kind of radio in the status: `bluez`, `simulated` or `replay`.
    var kind: String {
        switch self {
        case .bluez: "bluez"
        case .simulated: "simulated"
        case .replay: "replay"
        }
    }
}
