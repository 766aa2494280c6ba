import GotchuAPI
import LocalAPI
import Logging
import PaymentClient

/// The parts that every service needs: the journal, the login, the client of the payment server.
struct DaemonCore {
    let configuration: DaemonConfiguration
    let journal: any RecordJournal
    let hub = EventHub()
    let display: Display
    let tokens: TokenStore
    let status: DaemonStatus
    let access: AccessTokens
    /// The client that carries the login.
    let client: PaymentClient
    /// The outcomes of its calls.
    let calls: ServerCallOutcomes
    let logger: Logger

    init(
        _ configuration: DaemonConfiguration,
        http: any HTTPTransport,
        journal: any RecordJournal,
        credentials: String?,
        logger: Logger
    ) {
        self.configuration = configuration
        self.journal = journal
        self.logger = logger
        tokens = TokenStore(
            configured: configuration.tokenFile,
            credentials: credentials,
            stateDirectory: configuration.stateDirectory
        )
        if tokens.origin != .own, tokens.token == nil {
            logger.warning("\(HealthItem.notLoggedIn(from: tokens.origin).text)")
        }
        let display = Display(configuration.screens, logger: logger)
        self.display = display
        status = DaemonStatus(
            radioKind: configuration.radio.kind,
            listen: configuration.listen,
            route: configuration.serverRoute,
            tokens: tokens,
            hub: hub,
            onChange: { display.board.apply($0) }
        )
        access = AccessTokens(
            tokens: tokens,
            client: PaymentClient(server: configuration.server, http: http),
            status: status,
            logger: logger
        )
        let calls = ServerCallOutcomes()
        self.calls = calls
        client = PaymentClient(
            server: configuration.server,
            http: http,
            access: access,
            onAnswer: { calls.record($0) }
        )
    }

    /// Shows a step of a request, and has the payment server probed more often while one is open.
    func apply(_ step: RequestStep) {
        display.board.apply(step)
        switch step {
        case .opened, .resumed: calls.requestOpened()
        case .sessionRequested, .sessionRequestFailed, .changed, .confirmed: break
        }
    }
}
