import GotchuAPI
import GotchuCore
import LocalAPI
import Logging
import PaymentClient
import Radio
import ServiceProcess

/// The services behind the daemon's socket.
struct DaemonBackend: LocalBackend {
    let core: DaemonCore
    let journal: Journal
    let presenceService: PresenceService
    let calibrationStore: CalibrationStore
    let requestService: RequestService
    let paymentService: PaymentService
    let withdrawalService: WithdrawalService
    let contestEntryService: ContestEntryService
    let logins: any LocalLogins
    let tills: TillService
    let reloading: Reload
    let recorder = SightingRecorder()
    let traffic = LocalTraffic(.socket)
    let ring: LogRing

    /// - Parameters:
    ///   - readConfiguration: Reads the configuration again, for a reload.
    ///   - ring: The newest lines of the log, for a bug report.
    init(
        _ core: DaemonCore,
        journal: Journal,
        radio: any Radio,
        readConfiguration: @escaping @Sendable () throws(ConfigurationError) -> DaemonConfiguration,
        ring: LogRing
    ) {
        self.core = core
        self.journal = journal
        self.ring = ring
        let sessions = SessionResolver(client: core.client)
        let requests = RequestService(
            client: core.client,
            tokens: core.tokens,
            radio: radio,
            eidLifetime: core.configuration.eidLifetime,
            journal: core.journal,
            hub: core.hub,
            logger: core.logger
        ) { core.apply($0) }
        (calibrationStore, tills) = Self.stores(core)
        presenceService = PresenceService(
            radio: radio,
            listen: core.configuration.listen,
            policy: core.configuration.proximity,
            calibrations: calibrationStore,
            resolver: sessions,
            hub: core.hub,
            recorder: recorder
        ) { state in
            core.status.apply(radio: state)
            await requests.apply(radio: state)
        }
        paymentService = PaymentService(core, proximity: presenceService, sessions: sessions)
        withdrawalService = WithdrawalService(core)
        contestEntryService = ContestEntryService(core)
        requestService = requests
        logins = LoginService(
            core: core,
            payments: paymentService,
            withdrawals: withdrawalService,
            entries: contestEntryService,
            requests: requests
        )
        reloading = Reload(
            current: core.configuration,
            readConfiguration: readConfiguration,
            access: AccessControl(
                core.configuration,
                hub: core.hub,
                display: core.display.feed,
                logger: core.logger
            ),
            tokens: core.tokens,
            status: core.status,
            logger: core.logger
        )
        warnOfUnreadable()
    }

    /// Returns the parts that have their own files in the state folder.
    private static func stores(_ core: DaemonCore) -> (CalibrationStore, TillService) {
        let (folder, hub) = (core.configuration.stateDirectory, core.hub)
        return (
            CalibrationStore(stateDirectory: folder),
            TillService(stateDirectory: folder) { hub.endReaders() }
        )
    }

    private func warnOfUnreadable() {
        if calibrationStore.wasUnreadable {
            core.logger.warning("The calibration cannot be read; the configured levels apply")
        }
        if tills.wasUnreadable {
            core.logger.warning("The list of tills cannot be read; they must be paired again")
        }
    }

    var requests: any LocalCollection<NewRequest, RequestView, SessionID> { requestService }
    var payments: any LocalCollection<NewPayment, PaymentView, String> { paymentService }
    var pairings: any LocalPairings { tills }

    func status() async -> StatusReply {
        core.status.apply(ignored: presenceService.counts.ignored)
        var reply = core.status.reply
        reply.radio.certainty = core.configuration.proximity.certainty
        reply.radio.calibration = reply.radio.adapter.flatMap { name in
            calibrationStore.view(of: reply.radio.address ?? name)
        }
        return reply
    }

    func presences(afterListening: Bool) async -> PresencesReply {
        if afterListening {
            await presenceService.listenForPresences()
        } else {
            presenceService.requestListening()
        }
        return PresencesReply(sessions: presenceService.presences())
    }

    func bugReport() async -> BugReportReply {
        let report = BugReport(
            status: await status(),
            configuration: core.configuration.lines,
            metrics: await metrics(),
            requests: await requestService.views(),
            payments: await paymentService.views(),
            presences: presenceService.presences(),
            log: ring.lines,
            token: core.tokens.token
        )
        return BugReportReply(text: report.text)
    }

    func refreshRequest(_ id: SessionID) async throws(Problem) -> RequestView {
        try await requestService.refresh(id)
    }

    func createRefund(_ new: NewRefund) async throws(Problem) -> Created<PaymentView> {
        try await paymentService.refund(new, of: await requestService.record(new.sid))
    }

    func resolve(_ eid: EID) async throws(Problem) -> ResolvedSession {
        try await paymentService.resolve(eid)
    }

    func wallet() async throws(Problem) -> WalletReply {
        try await loggedIn().wallet().getOrThrow(core.tokens)
    }

    func recording(seconds: Int) async throws(Problem) -> AsyncStream<[UInt8]> {
        let radio = core.status.reply.radio
        let header = RecordingHeader(
            version: GotchuVersion.current,
            radio: radio.kind,
            adapter: radio.adapter,
            transport: radio.transport,
            bluezVersion: radio.bluezVersion,
            startedAt: .now,
            policy: core.configuration.proximity
        )
        guard let lines = recorder.start(header, for: .seconds(seconds)) else {
            throw Problem(
                .rateLimited,
                detail: "There are already \(SightingRecorder.readerLimit) recordings.",
                fix: "Wait for one to end."
            )
        }
        presenceService.requestListening()
        return lines
    }

    func reload() async throws(Problem) -> StatusReply {
        try reloading.runOrThrow()
        return await status()
    }
}
