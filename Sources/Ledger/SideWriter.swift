internal import GotchuCore

/// A connection that writes what stands beside the books. Its functions are those of the store's
/// protocols.
protocol SideWriter: Actor {
    func add(_ device: Device) throws
    func devices(limit: Int) throws -> [Device]
    func change<Result: Sendable>(
        _ id: DeviceID,
        _ body: @Sendable (inout Device) -> Result
    ) throws -> Result?

    func add(_ endpoint: WebhookEndpoint, secret: [UInt8]) throws
    /// - Returns: Whether there is one.
    func beginRemovalOfWebhookEndpoint(_ id: String) throws -> Bool
    /// One slice.
    ///
    /// - Returns: Whether there may be more.
    func removeWebhookDeliveries(to id: String) throws -> Bool
    func removeWebhookEndpoint(_ id: String) throws
    /// One slice.
    func buryWebhookDeliveries(to id: String, because reason: String, at time: Timestamp) throws
    func claimDeliveries(
        for endpoint: String,
        at time: Timestamp,
        until leaseEnd: Timestamp,
        limit: Int
    ) throws -> [WebhookDelivery]
    func finish(_ tries: [WebhookDelivery.Ended], at time: Timestamp) throws
    /// One event, or a slice of all, to one endpoint.
    func resendWebhooks(event: String?, to id: String, at time: Timestamp) throws -> Int
}
