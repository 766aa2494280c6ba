internal import GotchuCore
internal import SQLite

extension SQLiteReader {
    func webhookEndpoints() throws -> [WebhookEndpoint] {
        try connection.query(WebhookQueries.endpoints, read: { try $0.webhookEndpoint() })
    }

    func dueWebhookEndpoints(at time: Timestamp) throws -> [String] {
        try connection.query(
            WebhookQueries.due,
            [.integer(time.milliseconds)],
            read: { try $0.text(0) }
        )
    }

    func disabledWebhookEndpoints() throws -> [(id: String, reason: String)] {
        try connection.query(
            WebhookQueries.disabledWithBacklog,
            read: { (try $0.text(0), try $0.text(1)) }
        )
    }

    func webhookBacklog(dead: Bool, limit: Int) throws -> [WebhookBacklogEntry] {
        try connection.query(
            WebhookQueries.backlog(dead: dead),
            [.integer(Int64(limit))],
            read: { try $0.webhookBacklogEntry() }
        )
    }
}
