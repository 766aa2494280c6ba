internal import GotchuCore
internal import SQLite

/// What is written to the outbox besides the events themselves.
extension SQLiteWriter {
    func add(_ endpoint: WebhookEndpoint, secret: [UInt8]) throws {
        try transaction {
            let count = try connection.query(WebhookQueries.endpointCount) { try $0.integer(0) }
            guard count[0] < WebhookEndpoint.limit else {
                throw LedgerError(.rejected, "There are too many endpoints.")
            }
            try connection.run(
                WebhookQueries.add,
                [
                    .text(endpoint.id), .text(endpoint.url), .text(endpoint.payee?.rawValue),
                    .integer(endpoint.createdAt.milliseconds), .blob(secret),
                ]
            )
        }
    }

    func beginRemovalOfWebhookEndpoint(_ id: String) throws -> Bool {
        try transaction { try connection.run(WebhookQueries.beginRemoval, [.text(id)]) > 0 }
    }

    func removeWebhookDeliveries(to id: String) throws -> Bool {
        try transaction {
            let slice = WebhookQueries.slice
            let values: [Value] = [.text(id), .integer(Int64(slice))]
            return try connection.run(WebhookQueries.removeDeliveries(.sqlite), values) == slice
        }
    }

    func removeWebhookEndpoint(_ id: String) throws {
        try transaction { _ = try connection.run(WebhookQueries.removeEndpoint, [.text(id)]) }
    }

    func buryWebhookDeliveries(to id: String, because reason: String, at time: Timestamp) throws {
        try transaction {
            _ = try connection.run(
                WebhookQueries.bury(.sqlite),
                [
                    .text(reason), .integer(time.milliseconds), .text(id),
                    .integer(Int64(WebhookQueries.slice)),
                ]
            )
        }
    }

    func claimDeliveries(
        for endpoint: String,
        at time: Timestamp,
        until leaseEnd: Timestamp,
        limit: Int
    ) throws -> [WebhookDelivery] {
        try transaction {
            let events = try connection.query(
                WebhookQueries.claim(.sqlite),
                [
                    .integer(time.milliseconds), .integer(leaseEnd.milliseconds),
                    .text(endpoint), .integer(Int64(limit)),
                ],
                read: { try $0.text(0) }
            )
            return try events.sorted().flatMap { event in
                let name = WebhookDelivery.Name(endpoint: endpoint, event: event)
                return try connection.query(
                    WebhookQueries.delivery,
                    [.text(endpoint), .text(event)],
                    read: { try $0.webhookDelivery(name) }
                )
            }
        }
    }

    func finish(_ tries: [WebhookDelivery.Ended], at time: Timestamp) throws {
        try transaction { for ended in tries { try finish(ended, at: time) } }
    }

    private func finish(_ ended: WebhookDelivery.Ended, at time: Timestamp) throws {
        let name: [Value] = [
            .text(ended.name.endpoint), .text(ended.name.event), .integer(ended.attempt),
        ]
        switch ended.outcome {
        case .delivered:
            try connection.run(WebhookQueries.delivered, name)
        case .failed(let error, let next):
            try connection.run(
                WebhookQueries.failed,
                [.integer(next.milliseconds), .text(error), .null] + name
            )
        case .dead(let error):
            try connection.run(
                WebhookQueries.failed,
                [.integer(time.milliseconds), .text(error), .integer(time.milliseconds)] + name
            )
        case .gone(let error):
            try connection.run(
                WebhookQueries.disable,
                [.text(error), .text(ended.name.endpoint)]
            )
            try connection.run(
                WebhookQueries.failed,
                [.integer(time.milliseconds), .text(error), .integer(time.milliseconds)] + name
            )
        }
    }

    func resendWebhooks(event: String?, to id: String, at time: Timestamp) throws -> Int {
        try transaction {
            let count = try connection.run(
                event == nil ? WebhookQueries.resendSome(.sqlite) : WebhookQueries.resendOne,
                [
                    .integer(time.milliseconds), .text(id),
                    event.map { .text($0) } ?? .integer(Int64(WebhookQueries.slice)),
                ]
            )
            if count > 0 { try connection.run(WebhookQueries.revive, [.text(id)]) }
            return count
        }
    }
}
