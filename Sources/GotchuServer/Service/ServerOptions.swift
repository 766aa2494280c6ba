internal import ServiceProcess

/// What the command line asked for, checked.
struct ServerOptions: Sendable {
    let listen: ListenAddress
    let database: DatabaseLocation
    /// What a new wallet starts with, in minor units; `nil` without development logins.
    let developmentOpening: Int64?
    /// Whose tokens are good besides our own.
    let openID: OpenIDSettings?
    /// How long a device's access token is good.
    let tokenLifetime: Duration
    let limits: ServerLimits

    /// - Throws: If development logins would be reachable from elsewhere.
    init(
        listen: ListenAddress,
        database: DatabaseLocation,
        developmentOpening: Int64?,
        openID: OpenIDSettings? = nil,
        tokenLifetime: Duration = .seconds(600),
        limits: ServerLimits = ServerLimits()
    ) throws(ServerFailure) {
        guard developmentOpening == nil || listen.isLoopback else {
            throw ServerFailure(
                .configuration,
                "With --dev anybody can log in as anybody, so the server must not be reachable "
                    + "from elsewhere.",
                fix: "Listen on 127.0.0.1, or leave --dev out."
            )
        }
        self.listen = listen
        self.database = database
        self.developmentOpening = developmentOpening
        self.openID = openID
        self.tokenLifetime = tokenLifetime
        self.limits = limits
    }
}
