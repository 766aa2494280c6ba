import GotchuAPI
import GotchuCore
import LocalAPI
import PaymentClient
import ServiceProcess

/// What the daemon does for its socket: passes each call to the part that can answer it.
struct DaemonBackend: LocalBackend {
    let daemonStatus: DaemonStatus
    let presenceService: PresenceService
    let requestService: RequestService
    let paymentService: PaymentService
    let client: PaymentClient
    let tokens: TokenStore
    let access: AccessTokens
    let journal: Journal
    let hub: EventHub
    let traffic: LocalTraffic
    let configuration: DaemonConfiguration
    let ring: LogRing
    let calibrationStore: CalibrationStore
    let recorder: SightingRecorder
    let reloadConfiguration: @Sendable () async throws(Problem) -> Void

    func status() async -> StatusReply {
        daemonStatus.apply(ignored: presenceService.counts.ignored)
        var reply = daemonStatus.reply
        reply.radio.calibration = reply.radio.adapter.flatMap { name in
            calibrationStore.view(of: reply.radio.address ?? name)
        }
        return reply
    }

    func presences(afterListening: Bool) async -> PresencesReply {
        if afterListening { await presenceService.hear() } else { presenceService.ask() }
        return PresencesReply(sessions: presenceService.presences())
    }

    func bugReport() async -> BugReportReply {
        let report = BugReport(
            status: await status(),
            configuration: configuration.lines,
            metrics: await metrics(),
            requests: await requestService.views(),
            payments: await paymentService.views(),
            presences: presenceService.presences(),
            log: ring.lines,
            token: tokens.token
        )
        return BugReportReply(text: report.text)
    }

    func createRequest(
        _ new: NewRequest,
        key: IdempotencyKey?
    ) async throws(Problem) -> Created<RequestView> {
        guard tokens.token != nil else { throw .notLoggedIn(tokens) }
        return try await requestService.create(new, key: key)
    }

    func requests() async -> RequestsReply {
        RequestsReply(requests: await requestService.views())
    }

    func request(_ id: SessionID) async throws(Problem) -> RequestView {
        try await requestService.view(of: id)
    }

    func cancelRequest(_ id: SessionID) async throws(Problem) -> RequestView {
        try await requestService.cancel(id)
    }

    func createPayment(
        _ new: NewPayment,
        key: IdempotencyKey?
    ) async throws(Problem) -> Created<PaymentView> {
        try await paymentService.create(new, key: key)
    }

    func createRefund(_ new: NewRefund) async throws(Problem) -> Created<PaymentView> {
        try await paymentService.refund(new)
    }

    func payments() async -> PaymentsReply {
        PaymentsReply(payments: await paymentService.views())
    }

    func payment(_ id: String) async throws(Problem) -> PaymentView {
        try await paymentService.view(of: id)
    }

    func cancelPayment(_ id: String) async throws(Problem) -> PaymentView {
        try await paymentService.cancel(id)
    }

    func resolve(_ eid: EID) async throws(Problem) -> ResolvedSession {
        var session = ResolvedSession(try await client.resolve(eid).getOrThrow(tokens))
        session.isPayeeKnown = await paymentService.hasPaid(session.payeeID)
        return session
    }

    func wallet() async throws(Problem) -> WalletReply {
        guard tokens.token != nil else { throw .notLoggedIn(tokens) }
        return try await client.wallet().getOrThrow(tokens)
    }

    func logIn(_ login: LocalLogin) async throws(Problem) -> StatusReply {
        var token: String
        switch (login.token, login.devEmail) {
        case (let given?, nil):
            guard let usable = TokenStore.usable(given) else {
                throw Problem(.validationError, detail: "A token is one line of visible ASCII.")
            }
            token = usable
            if !TokenStore.isDevice(token) { try await refuseUnaccepted(token) }
        case (nil, let email?):
            token = try await client.devLogin(email: email).getOrThrow(tokens).token
        case (nil, nil), (_?, _?):
            throw Problem(.validationError, detail: "One of token and dev_email must be there.")
        }
        try await refuseWhileOpen(for: TokenStore.identity(of: token))
        if TokenStore.isDevice(token) { token = try await access.enrol(token) }
        try store(token)
        return await status()
    }

    func logOut() async throws(Problem) -> StatusReply {
        try await refuseWhileOpen(for: nil)
        try store(nil)
        return await status()
    }

    func recording(seconds: Int) async throws(Problem) -> AsyncStream<[UInt8]> {
        let radio = daemonStatus.reply.radio
        let header = RecordingHeader(
            version: GotchuVersion.current,
            radio: radio.kind,
            adapter: radio.adapter,
            transport: radio.transport,
            bluezVersion: radio.bluezVersion,
            startedAt: .now,
            policy: configuration.proximity
        )
        guard let lines = recorder.start(header, for: .seconds(seconds)) else {
            throw Problem(
                .rateLimited,
                detail: "There are already \(SightingRecorder.readerLimit) recordings.",
                fix: "Wait for one to end."
            )
        }
        presenceService.ask()
        return lines
    }

    func reload() async throws(Problem) -> StatusReply {
        try await reloadConfiguration()
        return await status()
    }

    /// Refuses a change of the user while something is open that the next one could not finish.
    ///
    /// - Parameter user: The next one, `nil` for nobody.
    private func refuseWhileOpen(for user: String?) async throws(Problem) {
        // Who is logged in already may log in anew whatever is open.
        guard user == nil || user != tokens.identity else { return }
        let hasPayment = await paymentService.hasOpenPayment(notOf: user)
        // With nobody logged in an open request waits for a login, and its user is not known here.
        let isChange = user == nil || (tokens.identity.map { $0 != user } ?? false)
        let hasRequest = isChange ? await requestService.hasOpenRequest : false
        guard hasPayment || hasRequest else { return }
        throw Problem(
            .paymentInProgress,
            detail: "A \(hasPayment ? "payment" : "request") of this user is still open.",
            fix: "gotchu-ctl history"
        )
    }

    /// Refuses a token that the server certainly does not take. While it cannot be asked, the one
    /// who logs in is believed.
    private func refuseUnaccepted(_ token: String) async throws(Problem) {
        guard case .unauthorized = await client.using(GivenToken(token)).wallet() else { return }
        throw Problem(
            .notLoggedIn,
            detail: "The payment server does not accept this token.",
            fix: "gotchu-ctl login"
        )
    }

    private func store(_ token: String?) throws(Problem) {
        do throws(TokenStore.Failure) {
            try tokens.store(token)
            daemonStatus.publish()
        } catch {
            switch error {
            case .fixed(let path):
                throw Problem(
                    .forbidden,
                    detail: "The token comes from \(path), which gotchud does not change.",
                    fix: HealthItem.login(from: tokens.origin)
                )
            case .system(let reason):
                throw Problem(
                    .journalUnwritable,
                    detail: "The token could not be kept: \(reason).",
                    fix: "df -h"
                )
            }
        }
    }
}
