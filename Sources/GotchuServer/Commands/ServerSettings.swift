internal import FoundationEssentials
internal import Glibc
internal import Ledger
internal import Logging
internal import ServiceProcess

/// The settings of `gotchu-server`. A flag overrides the environment, and the environment overrides
/// the default.
struct ServerSettings: Settings {
    var listen = ListenAddress.default
    var database: DatabaseLocation?
    var isDevelopment = false
    /// The opening balance of a development server's wallets, in minor units.
    var developmentOpening: Int64?
    var issuer: String?
    var audience: String?
    var keys: KeySource?
    var publicURL: PublicURL?
    /// A Boolean that is true if browsers get web pages.
    var isWeb = false
    /// This server's client id at the issuer.
    var clientID: String?
    /// The path of the file with the client secret.
    var clientSecretFile: String?
    var tokenLifetime: Duration = .seconds(600)
    var limits = ServerLimits()
    var funding = FundingOptions()
    var stripe = StripeSettings()
    var hasContests = false
    /// The house's part of an organiser's rake, in basis points.
    var contestCommission: Int64 = 0
    /// The path of a file with the ids of the users to whom contests are shown, one per line; `nil`
    /// for all users.
    var contestUsersFile: String?
    var logLevel = Logger.Level.info

    static let prefix = "GOTCHU_SERVER_"

    static let table = serverTable + fundingTable + stripeTable + contestTable

    private static let serverTable: [Setting<Self>] = [
        .database,
        Setting("listen", \.listen, .own),
        Setting("dev", \.isDevelopment, .boolean),
        Setting("dev_opening_balance", \.developmentOpening, .number(0...1_000_000_000_000)),
        Setting("oidc_issuer", \.issuer, .text),
        Setting("oidc_audience", \.audience, .text),
        Setting("oidc_jwks", \.keys, .own),
        Setting("oidc_client_id", \.clientID, .text),
        Setting("oidc_client_secret_file", \.clientSecretFile, .text),
        Setting("public_url", \.publicURL, .own),
        Setting("web", \.isWeb, .boolean),
        Setting("token_seconds", \.tokenLifetime, .seconds(1...900)),
        Setting("connections", \.limits.connections, .number(1...65_536)),
        Setting("queue", \.limits.queue, .number(1...65_536)),
        Setting("calls_per_second", \.limits.callsPerSecond, .number(1...10_000)),
        Setting(
            "streams_per_login",
            \.limits.streamsPerLogin,
            .number(1...ChangeFeed.watcherLimit)
        ),
        Setting("sessions_per_payee", \.limits.sessionsPerPayee, .number(1...100_000)),
        Setting("drain_seconds", \.limits.drain, .seconds(0...60)),
        Setting("trusted_proxy", \.limits.proxies, .own),
        Setting("open_metrics", \.limits.hasOpenMetrics, .boolean),
        Setting("contests", \.hasContests, .boolean),
        Setting("contest_commission_bps", \.contestCommission, .number(0...10_000)),
        Setting("log_level", \.logLevel, .logLevel),
    ]

    /// The contest settings that have no flag.
    static let contestTable: [Setting<Self>] = [
        Setting("contests_users_file", \.contestUsersFile, .text)
    ]

    /// Resolves the settings in these rows. An empty environment variable counts as absent.
    ///
    /// - Parameter flags: The command line's options by key.
    init(_ rows: [Setting<Self>] = Self.table, flags: [String: String?]) throws(ConfigurationError)
    {
        let environment = ProcessInfo.processInfo.environment.filter { !$0.value.isEmpty }
        try resolve(rows, from: SettingSources(flags: flags, environment: environment))
    }

    /// Returns the environment variables that look like settings but have no effect, for example
    /// because they are misspelt.
    ///
    /// gotchud may share this environment. Its variables GOTCHU_SERVER and GOTCHU_LOG_LEVEL are not
    /// reported.
    static func unknownVariables(among names: some Sequence<String>) -> [String] {
        let shortened = Set(table.map { "GOTCHU_" + $0.key.uppercased() })
        return unknownVariables(among: names) { name in
            name != "GOTCHU_SERVER" && name != "GOTCHU_LOG_LEVEL"
                && (name.hasPrefix("GOTCHU_SERVER") || shortened.contains(name))
        }
    }

    /// The database, which has no default.
    ///
    /// - Throws: `ServerFailure` if none is set.
    var namedDatabase: DatabaseLocation {
        get throws(ServerFailure) {
            if let database { return database }
            throw ServerFailure(
                .usage,
                "No database is named.",
                fix: "Name one with --database sqlite:PATH or GOTCHU_SERVER_DATABASE."
            )
        }
    }

    /// The issuer whose tokens are accepted; `nil` if none is configured.
    ///
    /// - Throws: `ServerFailure` if the settings are incomplete or cannot be used.
    var openID: OpenIDSettings? {
        get throws(ServerFailure) {
            guard issuer != nil || audience != nil || keys != nil else { return nil }
            guard let issuer, let audience, let keys else {
                throw ServerFailure(
                    .configuration,
                    "--oidc-issuer, --oidc-audience and --oidc-jwks go together.",
                    fix: "Name all three, or none."
                )
            }
            guard !issuer.isEmpty, !audience.isEmpty else {
                throw ServerFailure(
                    .configuration,
                    "--oidc-issuer and --oidc-audience must not be empty: nobody could log in.",
                    fix: "Give both values as the issuer writes them into its tokens."
                )
            }
            guard issuer != LocalTokenIssuer.issuer, !issuer.contains(">") else {
                throw ServerFailure(.configuration, "This cannot be the name of an OpenID issuer.")
            }
            if case .file(let path) = keys, access(path, R_OK) != 0 {
                throw ServerFailure(
                    .configuration,
                    "The issuer's keys at \(path) cannot be read: "
                        + "\(String(cString: strerror(errno))).",
                    fix: "Put the issuer's key set there, or name its https URL with --oidc-jwks."
                )
            }
            return OpenIDSettings(issuer: issuer, audience: audience, keys: keys)
        }
    }
}

extension Setting<ServerSettings> {
    /// The setting shared by all commands.
    static var database: Self { Self("database", \.database, .own) }
}

extension DatabaseLocation: SettingValue {
    static let rule = "A database is written as sqlite:PATH or postgres://USER@HOST/NAME."
}

extension ListenAddress: SettingValue {
    static let rule = "An address is written as HOST:PORT, the port from 0 to 65535."
}

extension KeySource: SettingValue {
    static let rule = "Keys that are fetched safely are at an https URL or in a file."
}
