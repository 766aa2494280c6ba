internal import Ledger
internal import Payments

/// The limits that the server's options set.
struct ServerLimits: Equatable, Sendable {
    /// The most open connections; further clients wait in the kernel's queue. Must stay below
    /// `LimitNOFILE` in the unit file.
    var connections = 14_000
    /// The most commands that wait for a commit.
    var queue = LedgerWriter.queueLimit
    /// Calls per second of one device or login, on average; bursts of six times as many pass.
    var callsPerSecond = 50
    /// Sessions that one device or login may watch at once.
    var streamsPerLogin = ChangeFeed.defaultWatchersPerLogin
    /// The most open sessions of one payee.
    var sessionsPerPayee = CreateSession.defaultLiveLimit
    /// The time for which a server keeps answering after a stop signal.
    var drain: Duration = .zero
    /// Trusted proxies, whose `X-Forwarded-For` is used.
    var proxies: Set<ClientAddress> = []
    /// A Boolean that is true if every address may read the metrics.
    var hasOpenMetrics = false
}
