internal import GotchuCore

extension ConnectedStore {
    package func add(_ endpoint: WebhookEndpoint, secret: [UInt8]) async throws(LedgerError) {
        try await wrapping(.tryAgain) { try await sideWriter.add(endpoint, secret: secret) }
    }

    package func webhookEndpoints() async throws(LedgerError) -> [WebhookEndpoint] {
        try await wrapping(.tryAgain) { try await reader.webhookEndpoints() }
    }

    package func removeWebhookEndpoint(_ id: String) async throws(LedgerError) -> Bool {
        try await wrapping(.tryAgain) { try await sideWriter.removeWebhookEndpoint(id) }
    }

    package func dueWebhookEndpoints(at time: Timestamp) async throws(LedgerError) -> [String] {
        try await wrapping(.tryAgain) { try await reader.dueWebhookEndpoints(at: time) }
    }

    package func claimDeliveries(
        for endpoint: String,
        at time: Timestamp,
        until leaseEnd: Timestamp,
        limit: Int
    ) async throws(LedgerError) -> [WebhookDelivery] {
        try await wrapping(.tryAgain) {
            try await sideWriter.claimDeliveries(
                for: endpoint,
                at: time,
                until: leaseEnd,
                limit: limit
            )
        }
    }

    package func finish(
        _ tries: [WebhookDelivery.Ended],
        at time: Timestamp
    ) async throws(LedgerError) {
        try await wrapping(.tryAgain) { try await sideWriter.finish(tries, at: time) }
    }

    package func webhookBacklog(
        dead: Bool,
        limit: Int
    ) async throws(LedgerError) -> [WebhookBacklogEntry] {
        try await wrapping(.tryAgain) { try await reader.webhookBacklog(dead: dead, limit: limit) }
    }

    package func resendWebhooks(
        event: String?,
        at time: Timestamp
    ) async throws(LedgerError) -> Int {
        try await wrapping(.tryAgain) {
            try await sideWriter.resendWebhooks(event: event, at: time)
        }
    }
}
