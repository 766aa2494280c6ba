internal import Ledger
internal import Payments

/// The limits on what a server accepts, as options set them.
struct ServerLimits: Equatable, Sendable {
    /// Connections; further clients wait in the kernel's queue. Below the unit file's limit of open
    /// files.
    var connections = 14_000
    /// Commands that may wait for the next commit.
    var queue = LedgerWriter.queueLimit
    /// Calls a second of one device or login.
    var callsPerSecond = 50
    /// Sessions that one device or login may follow at once.
    var streamsPerLogin = ChangeFeed.usualWatchersPerLogin
    /// Sessions of one payee that may be open at once.
    var sessionsPerPayee = CreateSession.usualLiveLimit
    /// The time for which a server that was told to stop goes on answering.
    var drain: Duration = .zero
    /// Trusted proxies, whose `X-Forwarded-For` counts.
    var proxies: Set<ClientAddress> = []
    /// A Boolean that is true if every address may read the metrics.
    var hasOpenMetrics = false
}
