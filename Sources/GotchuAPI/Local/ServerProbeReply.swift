/// The output of `gotchud --check-server`.
package struct ServerProbeReply: Codable, Equatable, Sendable {
    package var url: String
    package var isReachable: Bool
    package var latencyMilliseconds: Int?
    /// The lead of this machine's clock over the server's; half a second either way means nothing,
    /// because the server tells whole seconds.
    package var clockLeadMilliseconds: Int?
    /// The reason why it cannot be reached, or cannot work, as an item of the daemon's health.
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
