internal import GotchuCore

extension ConnectedStore {
    package func add(_ endpoint: WebhookEndpoint, secret: [UInt8]) async throws(LedgerError) {
        try await wrapping(.tryAgain) { try await sideWriter.add(endpoint, secret: secret) }
    }

    package func webhookEndpoints() async throws(LedgerError) -> [WebhookEndpoint] {
        try await wrapping(.tryAgain) { try await reader.webhookEndpoints() }
    }

    package func removeWebhookEndpoint(_ id: String) async throws(LedgerError) -> Bool {
        try await wrapping(.tryAgain) {
            // From here on nothing comes in for it; what is there goes in slices.
            guard try await sideWriter.beginRemovalOfWebhookEndpoint(id) else { return false }
            var attempts = 0
            while true {
                while try await sideWriter.removeWebhookDeliveries(to: id) {}
                do {
                    try await sideWriter.removeWebhookEndpoint(id)
                    return true
                } catch {
                    // A payment that had begun before may have put in one more.
                    attempts += 1
                    guard attempts < 5 else { throw error }
                }
            }
        }
    }

    package func buryWebhooks(at time: Timestamp) async throws(LedgerError) {
        try await wrapping(.tryAgain) {
            for endpoint in try await reader.disabledWebhookEndpoints() {
                try await sideWriter.buryWebhookDeliveries(
                    to: endpoint.id,
                    because: endpoint.reason,
                    at: time
                )
            }
        }
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
            var count = 0
            for endpoint in try await reader.webhookEndpoints() where !endpoint.isBeingRemoved {
                var slice = 0
                repeat {
                    slice = try await sideWriter.resendWebhooks(
                        event: event,
                        to: endpoint.id,
                        at: time
                    )
                    count += slice
                } while slice == WebhookQueries.slice
            }
            return count
        }
    }
}
