internal import GotchuCore
internal import Postgres

/// What is written to the outbox besides the events themselves. Each statement that matters says in
/// its own WHERE what it relies on, so that several servers may do this at once.
extension PostgreSQLWriter {
    func add(_ endpoint: WebhookEndpoint, secret: [UInt8]) throws {
        try write { connection in
            let count = try connection.query(WebhookQueries.endpointCount) { try $0.integer(0) }
            guard count[0] < WebhookEndpoint.limit else {
                throw LedgerError(.rejected, "There are too many endpoints.")
            }
            try connection.run([
                Query(
                    WebhookQueries.add,
                    [
                        .text(endpoint.id), .text(endpoint.url), .text(endpoint.payee?.rawValue),
                        .integer(endpoint.createdAt.milliseconds), .bytes(secret),
                    ]
                ),
                .commit,
            ])
        }
    }

    func removeWebhookEndpoint(_ id: String) throws -> Bool {
        try write { connection in
            var isThere = false
            try connection.run([
                Query("SELECT 1 FROM webhook_endpoints WHERE id = $1 FOR UPDATE", [.text(id)]) {
                    _ in isThere = true
                },
                Query(WebhookQueries.removeDeliveries, [.text(id)]),
                Query(WebhookQueries.removeEndpoint, [.text(id)]),
                .commit,
            ])
            return isThere
        }
    }

    func claimDeliveries(
        for endpoint: String,
        at time: Timestamp,
        until leaseEnd: Timestamp,
        limit: Int
    ) throws -> [WebhookDelivery] {
        try write { connection in
            var events: [String] = []
            // Whoever is told of a payment acts on it: the COMMIT makes sure of it.
            try connection.run([
                Query(
                    WebhookQueries.claim,
                    [
                        .integer(time.milliseconds), .integer(leaseEnd.milliseconds),
                        .text(endpoint), .integer(Int64(limit)),
                    ]
                ) { events.append(try $0.text(0)) },
                .commit,
            ])
            guard !events.isEmpty else { return [] }
            var deliveries: [WebhookDelivery] = []
            // They travel together.
            try connection.run(
                events.sorted().map { event in
                    let name = WebhookDelivery.Name(endpoint: endpoint, event: event)
                    let query = [Value.text(endpoint), .text(event)]
                    return Query(WebhookQueries.delivery, query) { row in
                        deliveries.append(try row.webhookDelivery(name))
                    }
                }
            )
            return deliveries
        }
    }

    func finish(_ tries: [WebhookDelivery.Ended], at time: Timestamp) throws {
        // In the order of their names, so that two servers never wait for each other in a circle.
        let inOrder = tries.sorted {
            ($0.name.endpoint, $0.name.event) < ($1.name.endpoint, $1.name.event)
        }
        let queries = inOrder.flatMap { Self.finish($0, at: time) }
        try write { try $0.run(queries + [.commit]) }
    }

    private static func finish(_ ended: WebhookDelivery.Ended, at time: Timestamp) -> [Query] {
        let name: [Value] = [
            .text(ended.name.endpoint), .text(ended.name.event), .integer(ended.attempt),
        ]
        switch ended.outcome {
        case .delivered:
            return [Query(WebhookQueries.delivered, name)]
        case .failed(let error, let next):
            return [
                Query(
                    WebhookQueries.failed,
                    [.integer(next.milliseconds), .text(error), .null] + name
                )
            ]
        case .dead(let error):
            return [
                Query(
                    WebhookQueries.failed,
                    [.integer(time.milliseconds), .text(error), .integer(time.milliseconds)] + name
                )
            ]
        case .gone(let error):
            return [
                Query(WebhookQueries.disable, [.text(error), .text(ended.name.endpoint)]),
                Query(
                    WebhookQueries.bury,
                    [.text(error), .integer(time.milliseconds), .text(ended.name.endpoint)]
                ),
            ]
        }
    }

    func resendWebhooks(event: String?, at time: Timestamp) throws -> Int {
        try write { connection in
            var count = 0
            try connection.run([
                Query(WebhookQueries.revive, [.text(event)]),
                Query(
                    WebhookQueries.resend + " RETURNING event_id",
                    [.integer(time.milliseconds), .text(event)]
                ) { _ in count += 1 },
                .commit,
            ])
            return count
        }
    }
}
