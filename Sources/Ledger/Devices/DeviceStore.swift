/// Where registered devices are kept: in the books' database, since they act for its users.
package protocol DeviceStore: Sendable {
    /// Takes in a new device.
    ///
    /// - Throws: `rejected` if its user is not in the books.
    func add(_ device: Device) async throws(LedgerError)

    /// The devices, oldest first, at most `limit`.
    func devices(limit: Int) async throws(LedgerError) -> [Device]

    /// A device as it is now. Unlike a change this burdens nobody who writes.
    func device(_ id: DeviceID) async throws(LedgerError) -> Device?

    /// In one durable transaction: loads a device, has `body` change it, and writes it if it did.
    ///
    /// - Returns: What `body` returned, or `nil` if there is no such device.
    func change<Result: Sendable>(
        _ id: DeviceID,
        _ body: @Sendable (inout Device) -> Result
    ) async throws(LedgerError) -> Result?
}
