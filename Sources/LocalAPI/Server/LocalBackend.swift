package import GotchuAPI
package import GotchuCore

/// The daemon's part of its local API: one function a route, no HTTP in it.
///
/// Called from any number of connections at once. A `Problem` that is thrown is the reply.
package protocol LocalBackend: Sendable {
    func status() async -> StatusReply
    /// Lists what is heard, for which the radio listens from now on.
    ///
    /// - Parameter afterListening: True to wait, if the radio has just begun, until what is near
    ///   must have been heard.
    func presences(afterListening: Bool) async -> PresencesReply
    func metrics() async -> String
    func bugReport() async -> BugReportReply

    func calibrations() async -> CalibrationsReply
    func calibrate(_ new: NewCalibration) async throws(Problem) -> CalibrationsReply
    func resetCalibration() async throws(Problem) -> CalibrationsReply

    var requests: any LocalCollection<NewRequest, RequestView, SessionID> { get }
    /// Payments and refunds.
    var payments: any LocalCollection<NewPayment, PaymentView, String> { get }
    var logins: any LocalLogins { get }
    var pairings: any LocalPairings { get }

    /// Asks the payment server how much of a paid request has gone back.
    func refreshRequest(_ id: SessionID) async throws(Problem) -> RequestView
    func createRefund(_ new: NewRefund) async throws(Problem) -> Created<PaymentView>
    /// - Parameter key: The same key is the same deposit.
    func openDeposit(_ new: NewDeposit, key: IdempotencyKey?) async throws(Problem) -> IntentReply
    /// The newest deposits.
    func deposits() async throws(Problem) -> IntentsReply
    func deposit(_ id: String) async throws(Problem) -> IntentReply
    func cancelDeposit(_ id: String) async throws(Problem) -> IntentReply
    /// - Parameter key: The key of a call that may be repeated.
    func withdraw(
        _ new: NewWithdrawal,
        key: IdempotencyKey?
    ) async throws(Problem) -> Created<WithdrawalView>
    func withdrawal(_ id: String) async throws(Problem) -> WithdrawalView
    /// The state of payouts, the earnings and the newest withdrawals.
    func payouts() async throws(Problem) -> PayoutsReply
    /// The wallet's earnings; of this machine's time zone, unless another is given.
    func earnings(_ selection: EarningsSelection) async throws(Problem) -> EarningsReply
    /// A page of the payments and refunds behind the earnings, newest first.
    func earningsHistory(
        _ selection: EarningsSelection,
        limit: Int64,
        cursor: String?
    ) async throws(Problem) -> EarningsHistoryReply
    /// A fresh link to the pages on which a payee says who they are.
    func payoutLink() async throws(Problem) -> ConnectLinkReply
    /// Makes a call of contests at the payment server.
    func contest(_ call: ContestCall) async throws(Problem) -> ContestAnswer
    /// Enters a contest; returns once it is known that this was done.
    ///
    /// - Parameter key: The same key is the same entry, also at the payment server.
    func joinContest(
        _ new: NewContestEntry,
        key: IdempotencyKey
    ) async throws(Problem) -> ContestAnswer
    func resolve(_ eid: EID) async throws(Problem) -> ResolvedSession
    func wallet() async throws(Problem) -> WalletReply
    /// A day's books; those of today, and of this machine's time zone, unless others are given.
    func report(day: CalendarDay?, zone: ZoneName?) async throws(Problem) -> ReportReply

    /// Starts a recording of what the radio notices: its lines, without line feeds.
    func recording(seconds: Int) async throws(Problem) -> AsyncStream<[UInt8]>
    func reload() async throws(Problem) -> StatusReply
}

/// A collection of the socket's resources, such as `/v1/requests`.
package protocol LocalCollection<New, View, ID>: Sendable {
    associatedtype New: Sendable
    associatedtype View: Sendable
    associatedtype ID: Sendable

    /// - Parameter key: The key of a call that may be repeated.
    func create(_ new: New, key: IdempotencyKey?) async throws(Problem) -> Created<View>
    /// All that are remembered, newest first.
    func views() async -> [View]
    func view(of id: ID) async throws(Problem) -> View
    /// Cancels it; returns one that has ended as it is.
    func cancel(_ id: ID) async throws(Problem) -> View
}

/// The daemon's one login.
package protocol LocalLogins: Sendable {
    func logIn(_ login: LocalLogin) async throws(Problem)
    func logOut() async throws(Problem)
}

/// The tills' pages that were paired, and those that want to be.
package protocol LocalPairings: Sendable {
    /// Pairs the till whose page shows a code.
    func approve(_ code: String, as new: NewPairing) throws(Problem) -> PairingView
    /// All of them, by name.
    func views() -> [PairingView]
    /// Ends a pairing at once, its streams too.
    func revoke(_ name: String) throws(Problem) -> PairingView
}
