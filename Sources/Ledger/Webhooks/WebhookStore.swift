package import GotchuCore

/// The outbox: events are put in by the commit that makes them, and taken out when they have
/// arrived.
package protocol WebhookStore: Sendable {
    /// - Throws: `rejected` if there are too many already.
    func add(_ endpoint: WebhookEndpoint, secret: [UInt8]) async throws(LedgerError)

    func webhookEndpoints() async throws(LedgerError) -> [WebhookEndpoint]

    /// Forgets an endpoint and all that waits for it. Cut short, it is to be called again: until
    /// then the endpoint gets nothing and is not taken up again.
    ///
    /// - Returns: Whether there was one.
    func removeWebhookEndpoint(_ id: String) async throws(LedgerError) -> Bool

    /// Gives up some of what waits for endpoints that want nothing any more: so little at a time
    /// that no payment waits for it.
    func buryWebhooks(at time: Timestamp) async throws(LedgerError)

    /// Endpoints for which something is due.
    func dueWebhookEndpoints(at time: Timestamp) async throws(LedgerError) -> [String]

    /// Takes what is due for an endpoint, the longest due first. Nobody else gets it before
    /// `leaseEnd`; if it is not finished by then it is due again.
    func claimDeliveries(
        for endpoint: String,
        at time: Timestamp,
        until leaseEnd: Timestamp,
        limit: Int
    ) async throws(LedgerError) -> [WebhookDelivery]

    /// Writes down what became of tries, in one commit. Nothing happens to one that another server
    /// has by now.
    func finish(_ tries: [WebhookDelivery.Ended], at time: Timestamp) async throws(LedgerError)

    /// What waits, or was given up, the longest waiting first.
    func webhookBacklog(dead: Bool, limit: Int) async throws(LedgerError) -> [WebhookBacklogEntry]

    /// Has what was given up tried again, for another day, and takes its endpoint up again,
    /// unless that is being removed.
    ///
    /// - Parameter event: One event, or `nil` for all of them.
    /// - Returns: How many deliveries that are.
    func resendWebhooks(
        event: String?,
        at time: Timestamp
    ) async throws(LedgerError) -> Int
}
