/// What `gotchud --check-server` prints.
package struct ServerProbeReply: Codable, Equatable, Sendable {
    package var url: String
    package var isReachable: Bool
    package var latencyMilliseconds: Int?
    /// By how much this machine's clock is ahead of the server's; half a second either way is
    /// nothing, because the server tells whole seconds.
    package var clockLeadMilliseconds: Int?
    /// Why it is not reachable: `unreachable`, `timed-out`, `busy` or `unreadable`.
    package var problem: String?

    package init(
        url: String,
        isReachable: Bool,
        latencyMilliseconds: Int? = nil,
        clockLeadMilliseconds: Int? = nil,
        problem: String? = nil
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
