package import GotchuAPI
package import LocalAPI

/// The paired tills, as the till's port needs them.
package protocol TillRegistry: Sendable {
    /// Begins to pair a page.
    func begin() throws(Problem) -> PairingOffer
    /// Returns the outcome of a page's pairing; its token once.
    func outcome(ofTicket ticket: String) throws(Problem) -> PairingOutcome
    /// The till of a bearer token; `nil` if there is none, or none any more.
    func till(ofToken token: String) -> PairingView?
    /// Counts a refund against its till's limit, durably, and makes it.
    func refund(
        _ new: NewRefund,
        byToken token: String,
        make: @Sendable (NewRefund) async throws(Problem) -> Created<PaymentView>
    ) async throws(Problem) -> Created<PaymentView>
}
