package import GotchuAPI
package import GotchuCore
import NIOHTTP1

/// The client for the daemon's socket, with one typed method for each route.
///
/// Each call opens its own connection. This is cheap: the connection is local, and a command makes
/// few calls (`pay` up to six). The value holds no state and can be shared. Every method throws
/// `LocalClientFailure`, or `CancellationError` if its task is cancelled.
package struct LocalClient: Sendable {
    /// The timeout of a call that the daemon answers from memory.
    static let promptLimit = Duration.seconds(5)

    /// The timeout of a call for which the daemon calls the payment server or uses the radio.
    static let serverBoundLimit = Duration.seconds(30)

    package let socketPath: String

    /// Called with the daemon's version for each reply. The caller can compare the versions.
    let versionHeard: @Sendable (String) -> Void

    package init(
        socketPath: String = SocketPath.system,
        versionHeard: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.socketPath = socketPath
        self.versionHeard = versionHeard
    }

    package func status() async throws -> StatusReply {
        try await call(.GET, "/v1/status")
    }

    /// The current state of the customer's display.
    package func display() async throws -> DisplayReply {
        try await call(.GET, "/v1/display")
    }

    /// Returns the presences heard now, nearest first. If the radio does not listen, it listens
    /// first.
    package func sessions() async throws -> [PresenceView] {
        let reply: PresencesReply = try await call(.GET, "/v1/sessions")
        return reply.sessions
    }

    /// Requests money. Returns once the EID is on the air.
    ///
    /// - Parameter key: The idempotency key. A call repeated with the same key creates nothing new.
    package func createRequest(
        _ request: NewRequest,
        key: IdempotencyKey? = nil
    ) async throws -> RequestView {
        try await call(.POST, "/v1/requests", body: request, key: key)
    }

    /// The daemon's requests, newest first.
    package func requests() async throws -> [RequestView] {
        let reply: RequestsReply = try await call(.GET, "/v1/requests")
        return reply.requests
    }

    /// One request in its current state.
    package func request(_ id: SessionID) async throws -> RequestView {
        try await call(.GET, "/v1/requests/\(id)")
    }

    /// Reads from the payment server how much of a paid request was refunded. Returns the request.
    package func refreshRequest(_ id: SessionID) async throws -> RequestView {
        try await call(.POST, "/v1/requests/\(id)/refresh", limit: Self.serverBoundLimit)
    }

    /// Cancels a request that nobody has paid yet. Returns it in its new state.
    package func cancelRequest(_ id: SessionID) async throws -> RequestView {
        try await call(.DELETE, "/v1/requests/\(id)", limit: Self.serverBoundLimit)
    }

    /// Starts a payment. Returns once the daemon has recorded it.
    ///
    /// - Parameter key: The idempotency key. A call repeated with the same key starts nothing new.
    package func createPayment(
        _ payment: NewPayment,
        key: IdempotencyKey? = nil
    ) async throws -> PaymentView {
        try await call(.POST, "/v1/payments", body: payment, key: key)
    }

    /// Starts a refund. Returns once the daemon has recorded it.
    package func createRefund(_ refund: NewRefund) async throws -> PaymentView {
        try await call(.POST, "/v1/refunds", body: refund)
    }

    /// Returns the daemon's payments and refunds, newest first.
    package func payments() async throws -> [PaymentView] {
        let reply: PaymentsReply = try await call(.GET, "/v1/payments")
        return reply.payments
    }

    /// Returns one payment or refund in its current state.
    package func payment(_ id: String) async throws -> PaymentView {
        try await call(.GET, "/v1/payments/\(percentEncoded(id))")
    }

    /// Cancels a payment that was not sent yet. Returns it in its new state. If it may have been
    /// sent, the call is refused with `PAYMENT_IN_PROGRESS`.
    package func cancelPayment(_ id: String) async throws -> PaymentView {
        try await call(.DELETE, "/v1/payments/\(percentEncoded(id))")
    }

    /// Resolves an EID at the payment server.
    package func resolve(_ eid: EID) async throws -> ResolvedSession {
        try await call(.POST, "/v1/resolve", body: ResolveRequest(eid: eid))
    }

    /// Returns the wallet of the logged-in user.
    package func wallet() async throws -> WalletReply {
        try await call(.GET, "/v1/wallet", limit: Self.serverBoundLimit)
    }

    /// Opens a deposit. Returns it with the address of its payment page.
    ///
    /// - Parameter key: The idempotency key. A call repeated with the same key returns the same
    ///   deposit.
    package func openDeposit(_ deposit: NewDeposit, key: IdempotencyKey) async throws -> IntentReply
    {
        try await call(.POST, "/v1/wallet/deposits", body: deposit, key: key)
    }

    /// The newest deposits, newest first.
    package func deposits() async throws -> IntentsReply {
        try await call(.GET, "/v1/wallet/deposits", limit: Self.serverBoundLimit)
    }

    /// One deposit in its current state.
    package func deposit(_ id: String) async throws -> IntentReply {
        let path = "/v1/wallet/deposits/\(percentEncoded(id))"
        return try await call(.GET, path, limit: Self.serverBoundLimit)
    }

    /// Cancels a deposit that was not paid yet.
    package func cancelDeposit(_ id: String) async throws -> IntentReply {
        let path = "/v1/wallet/deposits/\(percentEncoded(id))"
        return try await call(.DELETE, path, limit: Self.serverBoundLimit)
    }

    /// Orders a withdrawal. Returns once the daemon has recorded it.
    ///
    /// - Parameter key: The idempotency key. A call repeated with the same key orders nothing new.
    package func withdraw(
        _ withdrawal: NewWithdrawal,
        key: IdempotencyKey
    ) async throws -> WithdrawalView {
        try await call(.POST, "/v1/wallet/withdrawals", body: withdrawal, key: key)
    }

    /// Returns one of the daemon's withdrawals in its current state.
    package func withdrawal(_ id: String) async throws -> WithdrawalView {
        try await call(.GET, "/v1/wallet/withdrawals/\(percentEncoded(id))")
    }

    /// Returns the state of payouts, the earnings and the newest withdrawals.
    package func payouts() async throws -> PayoutsReply {
        try await call(.GET, "/v1/wallet/payouts", limit: Self.serverBoundLimit)
    }

    /// Returns the wallet's earnings. If the selection has no time zone, the daemon's applies.
    package func earnings(_ selection: EarningsSelection) async throws -> EarningsReply {
        try await call(.GET, "/v1/earnings?\(selection.query)", limit: Self.serverBoundLimit)
    }

    /// Returns a page of the payments and refunds behind the earnings, newest first.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of entries in the page, 1 to 100.
    ///   - cursor: The `nextCursor` of the previous page.
    package func earningsHistory(
        _ selection: EarningsSelection,
        limit: Int,
        cursor: String?
    ) async throws -> EarningsHistoryReply {
        let place = cursor.map { "&cursor=\(percentEncoded($0))" } ?? ""
        let path = "/v1/earnings/history?\(selection.query)&limit=\(limit)\(place)"
        return try await call(.GET, path, limit: Self.serverBoundLimit)
    }

    /// Creates a link to the pages on which a payee gives their details.
    package func payoutLink() async throws -> ConnectLinkReply {
        try await call(.POST, "/v1/wallet/payouts/link", limit: Self.serverBoundLimit)
    }

    /// Returns the report of a day. The default is today, in the daemon's time zone.
    package func report(day: CalendarDay?, zone: TimeZoneName?) async throws -> ReportReply {
        let parameters = [
            day.map { "day=\($0)" },
            zone.map { "zone=\(percentEncoded($0.rawValue))" },
        ].compactMap(\.self).joined(separator: "&")
        let path = "/v1/report" + (parameters.isEmpty ? "" : "?" + parameters)
        return try await call(.GET, path, limit: Self.serverBoundLimit)
    }

    /// Pairs the till whose page shows a code.
    package func pair(_ code: String, as new: NewPairing) async throws -> PairingView {
        let path = "/v1/pairings/\(percentEncoded(code))"
        return try await call(.POST, path, body: new, limit: Self.promptLimit)
    }

    /// Returns the paired tills, sorted by name.
    package func pairings() async throws -> [PairingView] {
        let reply: PairingsReply = try await call(.GET, "/v1/pairings")
        return reply.pairings
    }

    /// Revokes a till's pairing. Returns the pairing as it was.
    package func revokePairing(_ name: String) async throws -> PairingView {
        try await call(.DELETE, "/v1/pairings/\(percentEncoded(name))")
    }

    /// Returns a report for finding faults. The daemon has redacted it.
    package func bugReport() async throws -> BugReportReply {
        try await call(.GET, "/v1/bugreport", limit: Self.serverBoundLimit)
    }

    package func calibrations() async throws -> CalibrationsReply {
        try await call(.GET, "/v1/calibration")
    }

    /// Stores a calibration. It applies at once.
    package func calibrate(_ new: NewCalibration) async throws -> CalibrationsReply {
        try await call(.PUT, "/v1/calibration", body: new, limit: Self.promptLimit)
    }

    package func resetCalibration() async throws -> CalibrationsReply {
        try await call(.DELETE, "/v1/calibration")
    }

    /// Logs the daemon in at the payment server.
    package func login(_ login: LocalLogin) async throws -> StatusReply {
        try await call(.POST, "/v1/login", body: login)
    }

    /// Deletes the daemon's token.
    package func logout() async throws -> StatusReply {
        try await call(.DELETE, "/v1/login", limit: Self.serverBoundLimit)
    }
}
