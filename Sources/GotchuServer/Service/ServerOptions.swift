internal import ServiceProcess

/// The server's settings after their validation.
struct ServerOptions: Sendable {
    let listen: ListenAddress
    let database: DatabaseLocation
    /// The opening balance of a new wallet, in minor units; `nil` without development logins.
    let developmentOpening: Int64?
    /// The OpenID issuer whose tokens are accepted besides the server's own.
    let openID: OpenIDSettings?
    /// The lifetime of a device's access token.
    let tokenLifetime: Duration
    let limits: ServerLimits
    /// The settings of the web pages; `nil` if browsers get none.
    let web: WebOptions?
    /// The server's address for browsers, if it has one.
    let publicURL: PublicURL?
    let funding: FundingOptions
    /// The users to whom deposits and withdrawals are offered.
    let fundingUsers: UserAllowlist
    /// The settings of Stripe; `nil` without a key.
    let stripe: StripeOptions?

    /// The settings of contests; `nil` without contests.
    let contests: ContestOptions?

    /// - Throws: `ServerFailure` if a file cannot be read, or if settings contradict each other. An
    ///   example is a development login at an address that other machines can reach.
    init(_ settings: ServerSettings) throws(ServerFailure) {
        guard settings.developmentOpening == nil || settings.isDevelopment else {
            throw ServerFailure(.usage, "--dev-opening-balance goes with --dev.")
        }
        database = try settings.namedDatabase
        openID = try settings.openID
        guard !settings.isDevelopment || settings.listen.isLoopback else {
            throw ServerFailure(
                .configuration,
                "With --dev anybody can log in as anybody, so the server must not be reachable "
                    + "from elsewhere.",
                fix: "Listen on 127.0.0.1, or leave --dev out."
            )
        }
        developmentOpening = settings.isDevelopment ? settings.developmentOpening ?? 0 : nil
        listen = settings.listen
        tokenLifetime = settings.tokenLifetime
        limits = settings.limits
        web = try settings.webOptions
        publicURL = settings.publicURL
        funding = try settings.fundingOptions
        fundingUsers = try UserAllowlist(file: settings.funding.usersFile)
        stripe = try settings.stripeOptions
        let contestUsers = try UserAllowlist(file: settings.contestUsersFile)
        contests =
            settings.hasContests
            ? ContestOptions(
                commissionBPS: settings.contestCommission,
                users: contestUsers,
                origin: publicURL?.origin
            ) : nil
    }
}
