/// Limits the delivery attempts that run at once, in total and for each endpoint.
///
/// Each endpoint has one slot of its own, so that endpoints that hang never delay another. Each
/// accepted event earns the endpoint one more slot from a common pool; an attempt that fails takes
/// all of those back.
struct DeliverySlots {
    /// The number of attempts that run at once besides the first one of each endpoint.
    static let commonLimit = 32
    static let limitPerEndpoint = 16

    private struct Endpoint {
        var running = 0
        var allowed = 1
    }

    private var endpoints: [String: Endpoint] = [:]

    /// Returns the number of attempts that may begin for an endpoint now.
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
        // An idle endpoint without earned slots is forgotten: it is no different from a new one.
        endpoints[endpoint] = it.running == 0 && it.allowed == 1 ? nil : it
    }

    /// Forgets endpoints for which nothing runs and nothing waits.
    mutating func forget(except waiting: Set<String>) {
        endpoints = endpoints.filter { $0.value.running > 0 || waiting.contains($0.key) }
    }
}
