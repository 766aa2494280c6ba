internal import GotchuCore
internal import Postgres

extension PostgreSQLReader {
    func webhookEndpoints() throws -> [WebhookEndpoint] {
        try query(WebhookQueries.endpoints, [], read: { try $0.webhookEndpoint() })
    }

    func dueWebhookEndpoints(at time: Timestamp) throws -> [String] {
        try query(
            WebhookQueries.due,
            [.integer(time.milliseconds)],
            read: { try $0.text(0) }
        )
    }

    func disabledWebhookEndpoints() throws -> [(id: String, reason: String)] {
        try query(
            WebhookQueries.disabledWithBacklog,
            [],
            read: { (try $0.text(0), try $0.text(1)) }
        )
    }

    func webhookBacklog(dead: Bool, limit: Int) throws -> [WebhookBacklogEntry] {
        try query(
            WebhookQueries.backlog(dead: dead),
            [.integer(Int64(limit))],
            read: { try $0.webhookBacklogEntry() }
        )
    }
}
