/// The output of `gotchud --check-server`.
package struct ServerProbeReply: Codable, Equatable, Sendable {
    package var url: String
    package var isReachable: Bool
    package var latencyMilliseconds: Int?
    /// The time by which this machine's clock is ahead of the server's. The server reports whole
    /// seconds, so half a second is no difference.
    package var clockLeadMilliseconds: Int?
    /// The reason why the server is unreachable or does not work, as a health item.
    package var problem: HealthItem?

    package init(
        url: String,
        isReachable: Bool,
        latencyMilliseconds: Int? = nil,
        clockLeadMilliseconds: Int? = nil,
        problem: HealthItem? = nil
    ) {
        self.url = url
        self.isReachable = isReachable
        self.latencyMilliseconds = latencyMilliseconds
        self.clockLeadMilliseconds = clockLeadMilliseconds
        self.problem = problem
    }

    enum CodingKeys: String, CodingKey {
        case url, problem
        case isReachable = "is_reachable"
        case latencyMilliseconds = "latency_ms"
        case clockLeadMilliseconds = "clock_lead_ms"
    }
}
