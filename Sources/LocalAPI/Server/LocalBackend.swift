package import GotchuAPI
package import GotchuCore

/// The daemon's implementation of its local API: one function for each route, without HTTP.
///
/// Called concurrently from all connections. If a function throws a `Problem`, the problem is the
/// reply.
package protocol LocalBackend: Sendable {
    func status() async -> StatusReply
    /// Returns the presences. The radio listens from now on.
    ///
    /// - Parameter afterListening: True to wait until all devices nearby should have been heard. If
    ///   the radio has listened long enough, there is no wait.
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

    /// Reads the refunded amount of a paid request from the payment server.
    func refreshRequest(_ id: SessionID) async throws(Problem) -> RequestView
    func createRefund(_ new: NewRefund) async throws(Problem) -> Created<PaymentView>
    /// - Parameter key: The idempotency key. A call repeated with the same key returns the same
    ///   deposit.
    func openDeposit(_ new: NewDeposit, key: IdempotencyKey?) async throws(Problem) -> IntentReply
    /// Returns the newest deposits.
    func deposits() async throws(Problem) -> IntentsReply
    func deposit(_ id: String) async throws(Problem) -> IntentReply
    func cancelDeposit(_ id: String) async throws(Problem) -> IntentReply
    /// - Parameter key: The idempotency key.
    func withdraw(
        _ new: NewWithdrawal,
        key: IdempotencyKey?
    ) async throws(Problem) -> Created<WithdrawalView>
    func withdrawal(_ id: String) async throws(Problem) -> WithdrawalView
    /// Returns the state of payouts, the earnings and the newest withdrawals.
    func payouts() async throws(Problem) -> PayoutsReply
    /// Returns the wallet's earnings. If the selection has no time zone, this machine's applies.
    func earnings(_ selection: EarningsSelection) async throws(Problem) -> EarningsReply
    /// Returns a page of the payments and refunds behind the earnings, newest first.
    func earningsHistory(
        _ selection: EarningsSelection,
        limit: Int64,
        cursor: String?
    ) async throws(Problem) -> EarningsHistoryReply
    /// Creates a link to the pages on which a payee gives their details.
    func payoutLink() async throws(Problem) -> ConnectLinkReply
    /// Makes a contest call at the payment server.
    func contest(_ call: ContestCall) async throws(Problem) -> ContestAnswer
    /// Enters a contest. Returns once the entry is confirmed. Throws if it is refused or not
    /// confirmed in time.
    ///
    /// - Parameter key: The idempotency key. The call to the payment server has the same key.
    func joinContest(
        _ new: NewContestEntry,
        key: IdempotencyKey
    ) async throws(Problem) -> ContestAnswer
    func resolve(_ eid: EID) async throws(Problem) -> ResolvedSession
    func wallet() async throws(Problem) -> WalletReply
    /// Returns the report of a day. The default is today, in this machine's time zone.
    func report(day: CalendarDay?, zone: TimeZoneName?) async throws(Problem) -> ReportReply

    /// Starts a recording of what the radio receives. Returns its lines without line feeds.
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
    /// Returns all stored objects, newest first.
    func views() async -> [View]
    func view(of id: ID) async throws(Problem) -> View
    /// Cancels an object. Returns it unchanged if it has already ended.
    func cancel(_ id: ID) async throws(Problem) -> View
}

/// The daemon's login. The daemon has only one.
package protocol LocalLogins: Sendable {
    func logIn(_ login: LocalLogin) async throws(Problem)
    func logOut() async throws(Problem)
}

/// The pairings of till pages: the approved ones, and those that wait for an approval.
package protocol LocalPairings: Sendable {
    /// Pairs the till whose page shows a code, which this user has typed.
    func approve(
        _ code: String,
        as new: NewPairing,
        by userID: UInt32
    ) throws(Problem) -> PairingView
    /// Returns all pairings, sorted by name.
    func views() -> [PairingView]
    /// Ends a pairing and its streams at once.
    func revoke(_ name: String) throws(Problem) -> PairingView
}
