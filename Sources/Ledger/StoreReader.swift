internal import GotchuCore

/// A connection that reads. Its functions are those of the store's protocols.
protocol StoreReader: Actor {
    func session(_ id: SessionID) throws -> Session?
    func published(_ eid: EID) throws -> PublishedSession?
    func statement(of user: UserID, entries: Int) throws -> WalletStatement?
    func history(
        of user: UserID,
        in currency: Currency,
        _ range: WalletHistory.Range
    ) throws -> WalletHistory?
    func send(_ key: SendKey) throws -> RememberedSend?
    func due(at time: Timestamp, limit: Int) throws -> [SessionID]

    func sealHead() throws -> Seal
    func unsealed(after start: TransferID?, upTo end: TransferID?, _ size: Bite) throws -> Unsealed
    func transferCount(in stretch: Stretch) throws -> Int64

    func device(_ id: DeviceID) throws -> Device?
    func storeReading() throws -> StoreReading
    func use() throws -> BooksUse

    func webhookEndpoints() throws -> [WebhookEndpoint]
    func dueWebhookEndpoints(at time: Timestamp) throws -> [String]
    func disabledWebhookEndpoints() throws -> [(id: String, reason: String)]
    func webhookBacklog(dead: Bool, limit: Int) throws -> [WebhookBacklogEntry]
}
