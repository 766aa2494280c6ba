internal import GotchuAPI
internal import Hummingbird
internal import Ledger

/// Everything that slows a caller down. Limits are asked before anything is decided or remembered.
struct Limits: Sendable {
    private let logins = CallerLimiter<ClientAddress>(.init(capacity: 300, perSecond: 30))
    private let resolves = CallerLimiter<ClientAddress>(.init(capacity: 400, perSecond: 200))
    private let users = CallerLimiter<UserID>(.init(capacity: 300, perSecond: 50))
    let misses = MissLimiter()

    func allowLogin(from client: ClientAddress) throws {
        try take(logins, client, "logins", "Too many logins from this address.")
    }

    /// - Parameter asker: Whose misses count: the user, if the question came with a good token.
    func allowResolve(from client: ClientAddress, as asker: Asker) throws {
        try take(resolves, client, "resolves", "Too many questions from this address.")
        if let wait = misses.wait(for: asker) {
            throw Problem(.rateLimited, detail: "Too many unknown EIDs were asked for.")
                .retry(after: wait)
        }
    }

    /// Counts an EID that turned out to be unknown.
    func missed(by asker: Asker) {
        misses.missed(asker)
    }

    /// For all that a user calls: it burdens the writer or a reader, or holds a connection.
    func allowCall(by user: UserID) throws {
        try take(users, user, "calls", "Too many calls by this user.")
    }

    private func take<Caller>(
        _ limiter: CallerLimiter<Caller>,
        _ caller: Caller,
        _ name: String,
        _ detail: String
    ) throws {
        let wait = limiter.take(for: caller)
        RateLimitNote.current?.take(name, limiter.rate, limiter.bucket(of: caller))
        if let wait { throw Problem(.rateLimited, detail: detail).retry(after: wait) }
    }
}
