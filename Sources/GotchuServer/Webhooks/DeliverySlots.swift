/// Limits concurrent delivery attempts, in total and for each endpoint.
///
/// Each endpoint has one slot of its own, so an endpoint that hangs never delays others. Each
/// accepted event gives the endpoint one more slot from a common pool. A failed attempt takes all
/// of these back.
struct DeliverySlots {
    /// The size of the common pool. The first slot of each endpoint is not part of it.
    static let commonLimit = 32
    static let limitPerEndpoint = 16

    private struct Endpoint {
        var running = 0
        var allowed = 1
    }

    private var endpoints: [String: Endpoint] = [:]

    /// Returns the number of attempts that may start for an endpoint now.
    func free(for endpoint: String) -> Int {
        let it = endpoints[endpoint] ?? Endpoint()
        let taken = endpoints.values.reduce(0) { $0 + max(0, $1.running - 1) }
        let own = it.running == 0 ? 1 : 0
        return max(0, min(it.allowed - it.running, own + Self.commonLimit - taken))
    }

    mutating func begin(_ count: Int, for endpoint: String) {
        endpoints[endpoint, default: Endpoint()].running += count
    }

    mutating func end(_ endpoint: String, isAccepted: Bool) {
        guard var it = endpoints[endpoint] else { return }
        it.running -= 1
        it.allowed = isAccepted ? min(it.allowed + 1, Self.limitPerEndpoint) : 1
        // An idle endpoint with one slot equals a new one, so it is removed.
        endpoints[endpoint] = it.running == 0 && it.allowed == 1 ? nil : it
    }

    /// Removes endpoints that have neither running attempts nor waiting deliveries.
    mutating func forget(except waiting: Set<String>) {
        endpoints = endpoints.filter { $0.value.running > 0 || waiting.contains($0.key) }
    }
}
