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

    /// - Parameter key: The caller's name for this call, by which a repeat of it is recognised.
    func createRequest(
        _ new: NewRequest,
        key: IdempotencyKey?
    ) async throws(Problem) -> Created<RequestView>
    func requests() async -> RequestsReply
    func request(_ id: SessionID) async throws(Problem) -> RequestView
    func cancelRequest(_ id: SessionID) async throws(Problem) -> RequestView

    /// - Parameter key: The caller's name for this call, by which a repeat of it is recognised.
    func createPayment(
        _ new: NewPayment,
        key: IdempotencyKey?
    ) async throws(Problem) -> Created<PaymentView>
    func createRefund(_ new: NewRefund) async throws(Problem) -> Created<PaymentView>
    func payments() async -> PaymentsReply
    func payment(_ id: String) async throws(Problem) -> PaymentView
    func cancelPayment(_ id: String) async throws(Problem) -> PaymentView
    func resolve(_ eid: EID) async throws(Problem) -> ResolvedSession
    func wallet() async throws(Problem) -> WalletReply

    func logIn(_ login: LocalLogin) async throws(Problem) -> StatusReply
    func logOut() async throws(Problem) -> StatusReply
    /// Starts a recording of what the radio notices: its lines, without line feeds.
    func recording(seconds: Int) async throws(Problem) -> AsyncStream<[UInt8]>
    func reload() async throws(Problem) -> StatusReply
}
