internal import GotchuAPI
internal import Hummingbird
internal import Ledger

/// All rate limits. They are checked before anything is decided or stored.
struct Limits: Sendable {
    private let logins = CallerLimiter<ClientAddress>(.init(capacity: 300, perSecond: 30))
    private let resolves = CallerLimiter<RateLimitSubject>(.init(capacity: 400, perSecond: 200))
    /// The limiter of calls by login, so that a payee's tills do not use up each other's limit.
    private let calls: CallerLimiter<Login>
    /// The limiter of credentials by their family secret, so that nobody can use up another
    /// device's limit.
    private let credentials = CallerLimiter<[UInt8]>(.init(capacity: 60, perSecond: 1))
    let misses = MissLimiter()
    /// The limiter of unknown credentials, like the one of EIDs: any number of addresses together
    /// causes at most fifty look-ups a second.
    private let unknownCredentials = MissLimiter()
    /// The limiter of user requests that call the payment provider.
    private let providerCalls = CallerLimiter<UserID>(.init(capacity: 20, perSecond: 1))

    /// - Parameter callsPerSecond: The average rate of one login; bursts of six times as many
    ///   calls are allowed.
    init(callsPerSecond: Int) {
        let rate = Double(callsPerSecond)
        calls = CallerLimiter(.init(capacity: 6 * rate, perSecond: rate))
    }

    func allowLogin(from client: ClientAddress) throws {
        try take(logins, client, "logins", "Too many logins from this address.")
    }

    /// - Parameter subject: The login if the request had a valid token; it then shares no limit
    ///   with others at its address.
    func allowResolve(as subject: RateLimitSubject) throws {
        try take(resolves, subject, "resolves", "Too many EIDs were looked up.")
        if let wait = misses.wait(for: subject) {
            throw Problem(.rateLimited, detail: "Too many unknown EIDs were looked up.")
                .retry(after: wait)
        }
    }

    /// Counts an unknown EID.
    func countMiss(by subject: RateLimitSubject) {
        misses.countMiss(subject)
    }

    /// Limits the look-ups of devices' credentials.
    ///
    /// - Parameter family: The hash of the family secret if this server has sealed the credential.
    ///   A sealed credential cannot be forged, so it has its own limit, and is allowed while others
    ///   guess.
    func allowCredential(sealed family: [UInt8]?, from client: ClientAddress) throws {
        if let family {
            return try take(credentials, family, "credentials", "Too many calls by this device.")
        }
        if let wait = unknownCredentials.wait(for: .address(client)) {
            throw Problem(.rateLimited, detail: "Too many unknown credentials were shown.")
                .retry(after: wait)
        }
    }

    /// Counts a credential that belongs to no device.
    func countUnknownCredential(from client: ClientAddress) {
        unknownCredentials.countMiss(.address(client))
    }

    /// Limits a user's requests that call the payment provider each time: all users share the
    /// provider's rate limit.
    func allowProviderCall(by user: UserID) throws {
        try take(providerCalls, user, "provider", "Too many deposits or links were asked for.")
    }

    /// Limits all calls of a login: they load the writer or a reader, or hold a connection.
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
