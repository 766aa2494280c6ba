import GotchuAPI
import LocalAPI
import Logging
import PaymentClient

/// The parts that every service needs, such as the journal, the login and the payment client.
struct DaemonCore {
    let configuration: DaemonConfiguration
    let journal: any RecordJournal
    let hub = EventHub()
    let display: Display
    let tokens: TokenStore
    let status: DaemonStatus
    let access: AccessTokens
    /// The client for the payment server. Its calls carry the login's token.
    let client: PaymentClient
    /// The outcomes of the client's calls.
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

    /// Returns the client for a record's calls; `nil` if the record was begun at another server.
    /// Nothing is sent as another user or to another server: the idempotency key is valid only for
    /// one wallet at one server, so money could move twice.
    func client(for record: some JournalledRecord) -> PaymentClient? {
        guard client.server.description == record.server else { return nil }
        return client.using(access.restricted(to: record.user))
    }

    /// Applies a step of a request to the display. While a request is open, the payment server is
    /// probed more often.
    func apply(_ step: RequestStep) {
        display.board.apply(step)
        switch step {
        case .opened, .resumed: calls.requestOpened()
        case .sessionRequested, .sessionRequestFailed, .changed, .confirmed: break
        }
    }
}
