internal import GotchuAPI
internal import Hummingbird
internal import Ledger

/// All rate limits. They are checked before anything is decided or stored.
struct Limits: Sendable {
    private let logins = CallerLimiter<ClientAddress>(.init(capacity: 300, perSecond: 30))
    private let resolves = CallerLimiter<RateLimitSubject>(.init(capacity: 400, perSecond: 200))
    /// The limiter of calls by login. A payee's tills have separate limits.
    private let calls: CallerLimiter<Login>
    /// The limiter of credentials by their family secret. No device can use up another one's limit.
    private let credentials = CallerLimiter<[UInt8]>(.init(capacity: 60, perSecond: 1))
    let misses = MissLimiter()
    /// The heavy reads of a user's own payments.
    let heavyReads = HeavyReads()
    /// The heavy reads of contests. Many need no login, so they take no place of the others.
    let contestReads = HeavyReads()
    /// The limiter of unknown credentials. It works as for EIDs: all addresses together cause at
    /// most fifty look-ups a second.
    private let unknownCredentials = MissLimiter()
    /// The limiter of user requests that call the payment provider.
    private let providerCalls = CallerLimiter<UserID>(.init(capacity: 20, perSecond: 1))

    /// - Parameter callsPerSecond: The average rate of one login. A burst may have six times as
    ///   many calls.
    init(callsPerSecond: Int) {
        let rate = Double(callsPerSecond)
        calls = CallerLimiter(.init(capacity: 6 * rate, perSecond: rate))
    }

    func allowLogin(from client: ClientAddress) throws {
        try consume(logins, client, "logins", "Too many logins from this address.")
    }

    /// Limits the look-ups of EIDs.
    ///
    /// - Parameter subject: The login if the request had a valid token. A login has its own limit,
    ///   separate from its address.
    func allowResolve(as subject: RateLimitSubject) throws {
        try consume(resolves, subject, "resolves", "Too many EIDs were looked up.")
        if let wait = misses.wait(for: subject) {
            throw Problem(.rateLimited, detail: "Too many unknown EIDs were looked up.")
                .retry(after: wait)
        }
    }

    /// Counts a look-up of an unknown EID.
    func countMiss(by subject: RateLimitSubject) {
        misses.countMiss(subject)
    }

    /// Limits the look-ups of devices' credentials.
    ///
    /// - Parameter family: The hash of the family secret if this server has sealed the credential,
    ///   else `nil`. A sealed credential cannot be forged. It has its own limit, and passes even
    ///   while others guess credentials.
    func allowCredential(sealed family: [UInt8]?, from client: ClientAddress) throws {
        if let family {
            return try consume(credentials, family, "credentials", "Too many calls by this device.")
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

    /// Limits a user's requests that always call the payment provider, whose rate limit all users
    /// share.
    func allowProviderCall(by user: UserID) throws {
        try consume(providerCalls, user, "provider", "Too many deposits or links were asked for.")
    }

    /// Limits all calls of a login: each call loads the writer or a reader, or holds a connection.
    func allowCall(by login: Login) throws {
        try consume(calls, login, "calls", "Too many calls by this device or login.")
    }

    private func consume<Caller>(
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
