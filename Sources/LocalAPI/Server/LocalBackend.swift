package import GotchuAPI
package import GotchuCore

/// The daemon's implementation of its local API: one function for each route, without HTTP.
///
/// Called concurrently from all connections. A thrown `Problem` becomes the reply.
package protocol LocalBackend: Sendable {
    func status() async -> StatusReply
    /// Lists the presences; the radio listens from now on.
    ///
    /// - Parameter afterListening: True to wait, if the radio has just begun to listen, until all
    ///   that is near must have been heard.
    func presences(afterListening: Bool) async -> PresencesReply
    func metrics() async -> String
    func bugReport() async -> BugReportReply

    func calibrations() async -> CalibrationsReply
    func calibrate(_ new: NewCalibration) async throws(Problem) -> CalibrationsReply
    func resetCalibration() async throws(Problem) -> CalibrationsReply

    var requests: any LocalCollection<NewRequest, RequestView, SessionID> { get }
    /// The collection of payments and refunds.
    var payments: any LocalCollection<NewPayment, PaymentView, String> { get }
    var logins: any LocalLogins { get }
    var pairings: any LocalPairings { get }

    /// Reads from the payment server how much of a paid request was refunded.
    func refreshRequest(_ id: SessionID) async throws(Problem) -> RequestView
    func createRefund(_ new: NewRefund) async throws(Problem) -> Created<PaymentView>
    /// - Parameter key: A call repeated with the same key returns the same deposit.
    func openDeposit(_ new: NewDeposit, key: IdempotencyKey?) async throws(Problem) -> IntentReply
    /// The newest deposits.
    func deposits() async throws(Problem) -> IntentsReply
    func deposit(_ id: String) async throws(Problem) -> IntentReply
    func cancelDeposit(_ id: String) async throws(Problem) -> IntentReply
    /// - Parameter key: The idempotency key.
    func withdraw(
        _ new: NewWithdrawal,
        key: IdempotencyKey?
    ) async throws(Problem) -> Created<WithdrawalView>
    func withdrawal(_ id: String) async throws(Problem) -> WithdrawalView
    /// The state of payouts, the earnings and the newest withdrawals.
    func payouts() async throws(Problem) -> PayoutsReply
    /// The wallet's earnings, in this machine's time zone unless another is given.
    func earnings(_ selection: EarningsSelection) async throws(Problem) -> EarningsReply
    /// A page of the payments and refunds behind the earnings, newest first.
    func earningsHistory(
        _ selection: EarningsSelection,
        limit: Int64,
        cursor: String?
    ) async throws(Problem) -> EarningsHistoryReply
    /// A new link to the pages on which a payee gives their details.
    func payoutLink() async throws(Problem) -> ConnectLinkReply
    /// Makes a contest call at the payment server.
    func contest(_ call: ContestCall) async throws(Problem) -> ContestAnswer
    /// Enters a contest; returns once the entry is confirmed.
    ///
    /// - Parameter key: The idempotency key, also of the call to the payment server.
    func joinContest(
        _ new: NewContestEntry,
        key: IdempotencyKey
    ) async throws(Problem) -> ContestAnswer
    func resolve(_ eid: EID) async throws(Problem) -> ResolvedSession
    func wallet() async throws(Problem) -> WalletReply
    /// A day's report; of today and in this machine's time zone, unless others are given.
    func report(day: CalendarDay?, zone: TimeZoneName?) async throws(Problem) -> ReportReply

    /// Starts a recording of what the radio receives: lines without line feeds.
    func recording(seconds: Int) async throws(Problem) -> AsyncStream<[UInt8]>
    func reload() async throws(Problem) -> StatusReply
}

/// A collection of the socket's resources, such as `/v1/requests`.
package protocol LocalCollection<New, View, ID>: Sendable {
    associatedtype New: Sendable
    associatedtype View: Sendable
    associatedtype ID: Sendable

    /// - Parameter key: The idempotency key; `nil` if the caller gave none.
    func create(_ new: New, key: IdempotencyKey?) async throws(Problem) -> Created<View>
    /// All stored ones, newest first.
    func views() async -> [View]
    func view(of id: ID) async throws(Problem) -> View
    /// Cancels it; returns it unchanged if it has already ended.
    func cancel(_ id: ID) async throws(Problem) -> View
}

/// The daemon's one login.
package protocol LocalLogins: Sendable {
    func logIn(_ login: LocalLogin) async throws(Problem)
    func logOut() async throws(Problem)
}

/// The paired till pages, and those that ask to be paired.
package protocol LocalPairings: Sendable {
    /// Pairs the till whose page shows a code.
    func approve(_ code: String, as new: NewPairing) throws(Problem) -> PairingView
    /// All pairings, by name.
    func views() -> [PairingView]
    /// Ends a pairing at once, including its streams.
    func revoke(_ name: String) throws(Problem) -> PairingView
}
