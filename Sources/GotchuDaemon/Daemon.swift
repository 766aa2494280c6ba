import AsyncHTTPClient
import CLinux
import GotchuAPI
import LocalAPI
import Logging
import PaymentClient
import Radio
import ServiceLifecycle
import ServiceProcess
import Synchronization
import UnixSignals

/// gotchud: its parts, put together.
struct Daemon {
    private let services: [any Service]
    private let http: HTTPClient
    private let journal: Journal
    private let logger: Logger

    /// How long a shutdown may take; below the unit's TimeoutStopSec.
    private static let shutdownLimit: Duration = .seconds(15)

    /// - Parameters:
    ///   - configuration: What to start with.
    ///   - radio: The radio that it asks for.
    ///   - http: The settings of calls to the payment server.
    ///   - reread: Reads the configuration again, for a reload.
    ///   - hangups: SIGHUP, trapped before anything else began.
    ///   - ring: What `logger` logs, for a report.
    init(
        _ configuration: DaemonConfiguration,
        radio: any Radio,
        http httpConfiguration: HTTPClient.Configuration,
        reread: @escaping @Sendable () throws(ConfigurationError) -> DaemonConfiguration,
        credentials: String?,
        hangups: UnixSignalsSequence,
        ring: LogRing,
        logger: Logger
    ) throws(JournalFailure) {
        self.logger = logger
        journal = try Journal(folder: configuration.stateDirectory)
        if journal.wasTorn { logger.warning("A torn last line of the journal was cut off") }
        let tokens = Self.tokenStore(configuration, credentials, logger)
        http = HTTPClient(configuration: httpConfiguration)
        let hub = EventHub()
        let status = DaemonStatus(
            radioKind: configuration.radio.kind,
            listen: configuration.listen,
            route: configuration.serverRoute,
            tokens: tokens,
            hub: hub
        )
        let calls = ServerCalls()
        let access = AccessTokens(
            tokens: tokens,
            client: PaymentClient(server: configuration.server, http: http),
            logger: logger
        ) { status.publish() }
        let client = PaymentClient(
            server: configuration.server,
            http: http,
            access: access,
            onAnswer: { calls.record($0) }
        )
        let traffic = LocalTraffic()
        let recorder = SightingRecorder()
        let requests = RequestService(
            client: client,
            tokens: tokens,
            radio: radio,
            eidLifetime: configuration.eidLifetime,
            journal: journal,
            hub: hub,
            logger: logger
        )
        let calibrations = Self.calibrationStore(configuration, logger)
        let presences = PresenceService(
            radio: radio,
            listen: configuration.listen,
            policy: configuration.proximity,
            calibrations: calibrations,
            client: client,
            hub: hub,
            recorder: recorder
        ) { state in
            status.apply(radio: state)
            await requests.take(radio: state)
        }
        let payments = PaymentService(
            client: client,
            tokens: tokens,
            access: access,
            presences: presences,
            journal: journal,
            hub: hub,
            logger: logger
        ) { status.apply(unresolvedPayments: $0) }
        let control = AccessControl(configuration, hub: hub, logger: logger)
        let reload = Reload(
            current: configuration,
            reread: reread,
            access: control,
            tokens: tokens,
            status: status,
            logger: logger
        )
        let monitor = ServerMonitor(
            client: client,
            calls: calls,
            isLoginRefused: { tokens.isRefused },
            logger: logger
        ) { status.apply(server: $0) }
        let watch = JournalWatch(journal: journal) { status.apply(journal: $0) }
        let notifier = SystemdNotifier.current
        let backend = DaemonBackend(
            daemonStatus: status,
            presenceService: presences,
            requestService: requests,
            paymentService: payments,
            client: client,
            tokens: tokens,
            access: access,
            journal: journal,
            hub: hub,
            traffic: traffic,
            configuration: configuration,
            ring: ring,
            calibrationStore: calibrations,
            recorder: recorder,
            reloadConfiguration: { () async throws(Problem) in try reload.runOrThrow() }
        )
        let server = LocalServer(
            path: configuration.socketPath,
            groupID: AccessPolicy.groupID(named: configuration.group),
            policy: { control.policy },
            backend: backend,
            hub: hub,
            version: GotchuVersion.current,
            traffic: traffic,
            logger: logger
        ) {
            logger.notice(
                "gotchud is listening",
                metadata: ["socket": "\(configuration.socketPath)"]
            )
            notifier.ready(status: status.reply.summary)
            // Half of what is mapped by now only the start has needed.
            clinux_let_code_go()
        }
        let supervisor = Supervisor(
            notifier: notifier,
            status: status,
            presences: presences,
            reload: { reload.run() },
            hangups: hangups
        )
        let metrics = configuration.metrics.map { address in
            MetricsServer(address: address, logger: logger) { await backend.metrics() }
        }
        // In the order of need; they stop in reverse, so the socket closes first and the radio
        // last.
        services =
            [
                RadioService(radio) { presences.receive($0) }, presences, monitor, watch, requests,
                payments, supervisor, server,
            ]
            + (metrics.map { [$0] } ?? [])
    }

    private static func tokenStore(
        _ configuration: DaemonConfiguration,
        _ credentials: String?,
        _ logger: Logger
    ) -> TokenStore {
        let tokens = TokenStore(
            configured: configuration.tokenFile,
            credentials: credentials,
            stateDirectory: configuration.stateDirectory
        )
        if tokens.origin != .own, tokens.token == nil {
            logger.warning("\(HealthItem.notLoggedIn(from: tokens.origin).text)")
        }
        return tokens
    }

    private static func calibrationStore(
        _ configuration: DaemonConfiguration,
        _ logger: Logger
    ) -> CalibrationStore {
        let calibrations = CalibrationStore(stateDirectory: configuration.stateDirectory)
        if calibrations.wasUnreadable {
            logger.warning("The calibration cannot be read; the configured levels apply")
        }
        return calibrations
    }

    /// Runs until SIGTERM or SIGINT, or until a part fails: never half alive.
    func run() async throws {
        var configuration = ServiceGroupConfiguration(
            services: services,
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
    /// `bluez`, `simulated` or `replay`, as the status says it.
    var kind: String {
        switch self {
        case .bluez: "bluez"
        case .simulated: "simulated"
        case .replay: "replay"
        }
    }
}
