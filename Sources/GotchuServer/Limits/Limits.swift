internal import GotchuAPI
internal import Hummingbird
internal import Ledger

/// All rate limits. They are checked before anything is decided or remembered.
struct Limits: Sendable {
    private let logins = CallerLimiter<ClientAddress>(.init(capacity: 300, perSecond: 30))
    private let resolves = CallerLimiter<RateLimitSubject>(.init(capacity: 400, perSecond: 200))
    /// The limiter of calls by login, so that a payee's tills do not use up each other's budget.
    private let calls: CallerLimiter<Login>
    /// The limiter of credentials by their lasting secret, so that nobody can use up another
    /// device's budget.
    private let credentials = CallerLimiter<[UInt8]>(.init(capacity: 60, perSecond: 1))
    let misses = MissLimiter()
    /// The limiter of unknown credentials, like that of EIDs: no number of addresses makes more
    /// than fifty look-ups a second.
    private let unknownCredentials = MissLimiter()
    /// The limiter of requests by which a user has the payment provider called.
    private let providerCalls = CallerLimiter<UserID>(.init(capacity: 20, perSecond: 1))

    /// - Parameter callsPerSecond: The calls of one login in the long run; six times as many at
    ///   once.
    init(callsPerSecond: Int) {
        let rate = Double(callsPerSecond)
        calls = CallerLimiter(.init(capacity: 6 * rate, perSecond: rate))
    }

    func allowLogin(from client: ClientAddress) throws {
        try take(logins, client, "logins", "Too many logins from this address.")
    }

    /// - Parameter subject: The login, if the request came with a valid token: it shares no limit
    ///   with others at its address.
    func allowResolve(as subject: RateLimitSubject) throws {
        try take(resolves, subject, "resolves", "Too many EIDs were looked up.")
        if let wait = misses.wait(for: subject) {
            throw Problem(.rateLimited, detail: "Too many unknown EIDs were looked up.")
                .retry(after: wait)
        }
    }

    /// Counts an unknown EID.
    func missed(by subject: RateLimitSubject) {
        misses.missed(subject)
    }

    /// Limits the look-ups of devices' credentials.
    ///
    /// - Parameter family: The hash of the lasting secret if this server has sealed it. Nobody can
    ///   forge such a credential: it needs no look-up to be told from a guess, and is allowed while
    ///   strangers guess.
    func allowCredential(sealed family: [UInt8]?, from client: ClientAddress) throws {
        if let family {
            return try take(credentials, family, "credentials", "Too many calls by this device.")
        }
        if let wait = unknownCredentials.wait(for: .address(client)) {
            throw Problem(.rateLimited, detail: "Too many unknown credentials were shown.")
                .retry(after: wait)
        }
    }

    /// Counts a credential of no device.
    func missedCredential(from client: ClientAddress) {
        unknownCredentials.missed(.address(client))
    }

    /// Limits the requests of a user for which the payment provider is called each time: its calls
    /// are few, and everybody's.
    func allowProviderCall(by user: UserID) throws {
        try take(providerCalls, user, "provider", "Too many deposits or links were asked for.")
    }

    /// Limits all calls of a login: they burden the writer or a reader, or hold a connection.
    func allowCall(by login: Login) throws {
        try take(calls, login, "calls", "Too many calls by this device or login.")
    }

    private func take<Caller>(
        _ limiter: CallerLimiter<Caller>,
        _ caller: Caller,
        _ name: String,
        _ detail: String
    ) throws {
        let (wait, left) = limiter.draw(for: caller)
        RateLimitStatus.current?.record(name, limiter.rate, left)
        if let wait { throw Problem(.rateLimited, detail: detail).retry(after: wait) }
    }
}
