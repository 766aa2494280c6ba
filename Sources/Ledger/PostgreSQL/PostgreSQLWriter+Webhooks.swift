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

    func beginRemovalOfWebhookEndpoint(_ id: String) throws -> Bool {
        try count(WebhookQueries.beginRemoval, [.text(id)], returning: "id") > 0
    }

    func removeWebhookDeliveries(to id: String) throws -> Bool {
        let slice = WebhookQueries.slice
        let values: [Value] = [.text(id), .integer(Int64(slice))]
        return try count(
            WebhookQueries.removeDeliveries(.postgresql),
            values,
            returning: "event_id"
        ) == slice
    }

    func removeWebhookEndpoint(_ id: String) throws {
        try write { try $0.run([Query(WebhookQueries.removeEndpoint, [.text(id)]), .commit]) }
    }

    func buryWebhookDeliveries(to id: String, because reason: String, at time: Timestamp) throws {
        let values: [Value] = [
            .text(reason), .integer(time.milliseconds), .text(id),
            .integer(Int64(WebhookQueries.slice)),
        ]
        try write { try $0.run([Query(WebhookQueries.bury(.postgresql), values), .commit]) }
    }

    /// Runs one statement in a transaction of its own.
    ///
    /// - Returns: The number of rows that it changed.
    private func count(_ sql: String, _ values: [Value], returning column: String) throws -> Int {
        try write { connection in
            var count = 0
            let query = Query(sql + " RETURNING " + column, values) { _ in count += 1 }
            try connection.run([query, .commit])
            return count
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
                    WebhookQueries.claim(.postgresql),
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
                    WebhookQueries.failed,
                    [.integer(time.milliseconds), .text(error), .integer(time.milliseconds)] + name
                ),
            ]
        }
    }

    func resendWebhooks(event: String?, to id: String, at time: Timestamp) throws -> Int {
        try write { connection in
            var count = 0
            let values: [Value] = [
                .integer(time.milliseconds), .text(id),
                event.map { .text($0) } ?? .integer(Int64(WebhookQueries.slice)),
            ]
            let sql =
                event == nil ? WebhookQueries.resendSome(.postgresql) : WebhookQueries.resendOne
            let resend = Query(sql + " RETURNING event_id", values) { _ in count += 1 }
            try connection.run([resend])
            let revive = Query(WebhookQueries.revive, [.text(id)])
            try connection.run(count > 0 ? [revive, .commit] : [.commit])
            return count
        }
    }
}
