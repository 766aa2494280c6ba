package import GotchuAPI
package import LocalAPI

/// The registry of paired tills, as the till's port uses it.
package protocol TillRegistry: Sendable {
    /// Begins the pairing of a page in a browser of this user.
    func begin(by userID: UInt32) throws(Problem) -> PairingOffer
    /// Returns the outcome of a page's pairing. Only the first approved outcome includes the token.
    func outcome(ofTicket ticket: String) throws(Problem) -> PairingOutcome
    /// Returns the till of a bearer token; `nil` if the token is unknown or no longer valid.
    func till(ofToken token: String) -> PairingView?
    /// Counts a refund against the till's limit, durably, and then makes it.
    func refund(
        _ new: NewRefund,
        byToken token: String,
        make: @Sendable (NewRefund) async throws(Problem) -> Created<PaymentView>
    ) async throws(Problem) -> Created<PaymentView>
}
