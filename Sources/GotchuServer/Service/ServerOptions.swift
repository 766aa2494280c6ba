internal import ServiceProcess

/// The settings of the server, checked against each other.
struct ServerOptions: Sendable {
    let listen: ListenAddress
    let database: DatabaseLocation
    /// The opening balance of a new wallet, in minor units; `nil` without development logins.
    let developmentOpening: Int64?
    /// The OpenID issuer whose tokens are accepted beside the server's own.
    let openID: OpenIDSettings?
    /// The lifetime of a device's access token.
    let tokenLifetime: Duration
    let limits: ServerLimits
    /// The settings of the pages; `nil` unless browsers are sent some.
    let web: WebOptions?
    /// The server's address for browsers, if it has one.
    let publicURL: PublicURL?
    let funding: FundingOptions
    /// The users who see that wallets are filled and emptied.
    let fundingUsers: FeatureUsers
    /// The settings of Stripe; `nil` without a key.
    let stripe: StripeOptions?

    /// The settings of contests; `nil` unless there are some.
    let contests: ContestOptions?

    /// - Throws: If settings contradict each other, such as development logins and an address that
    ///   other machines can reach.
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
        funding = settings.funding
        fundingUsers = try FeatureUsers(file: settings.funding.usersFile)
        stripe = try settings.stripeOptions
        contests =
            settings.hasContests
            ? ContestOptions(
                commissionBPS: settings.contestCommission,
                users: try FeatureUsers(file: settings.contestUsersFile)
            ) : nil
    }
}
