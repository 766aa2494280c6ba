internal import Ledger
internal import Payments

/// The limits, and other settings of connections, that the server's options set.
struct ServerLimits: Equatable, Sendable {
    /// The maximum number of open connections. Further clients wait in the kernel's queue. The
    /// limit must stay below `LimitNOFILE` in the unit file.
    var connections = 14_000
    /// The maximum number of commands that wait for a commit.
    var queue = LedgerWriter.queueLimit
    /// The calls per second of one login, on average. A burst may have six times as many calls.
    var callsPerSecond = 50
    /// The maximum number of sessions and wallets that one login may watch at the same time.
    var streamsPerLogin = ChangeFeed.defaultWatchersPerLogin
    /// The maximum number of open sessions of one payee.
    var sessionsPerPayee = CreateSession.defaultLiveLimit
    /// The time for which the server continues to reply after a stop signal.
    var drain: Duration = .zero
    /// The trusted proxies, whose `X-Forwarded-For` is used.
    var proxies = TrustedProxies()
    /// A Boolean that is true if every address may read the metrics.
    var hasOpenMetrics = false
}
