internal import ArgumentParser
internal import FoundationEssentials
internal import Logging
internal import ServiceProcess

/// `gotchu-server [serve]`.
struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Serves payments until a stop signal.",
        discussion: """
            Examples:
              gotchu-server --listen 127.0.0.1:8080 --database sqlite:shop.db
              gotchu-server --listen 127.0.0.1:0 --database sqlite:try.db --dev \\
                --dev-opening-balance 10000

              gotchu-server --database sqlite:shop.db \\
                --oidc-issuer https://id.example --oidc-audience gotchu \\
                --oidc-jwks https://id.example/jwks.json

            Prints one line "listening on http://..." when it is ready. Each option can also be \
            given as a variable: GOTCHU_SERVER_LISTEN for --listen, and so on. Without --dev only \
            tokens of the OpenID issuer and of registered devices are good.
            """
    )

    @Option(
        help: "The address: HOST:PORT, else 127.0.0.1:8080. With port 0 the system chooses."
    )
    var listen: String?

    @OptionGroup var database: DatabaseOption

    @Flag(help: "Let anybody log in with an e-mail address. Only on a loopback address.")
    var dev = false

    @Option(help: "With --dev: the opening balance of a new wallet, in cents.")
    var devOpeningBalance: String?

    @Option(help: .value("url", "The OpenID issuer whose tokens are accepted."))
    var oidcIssuer: String?

    @Option(help: .value("name", "The audience that its tokens must name."))
    var oidcAudience: String?

    @Option(help: .value("url or path", "The issuer's public keys: an https URL or a file."))
    var oidcJwks: String?

    @Option(help: .value("id", "This server's name at the issuer, for the pages."))
    var oidcClientID: String?

    @Option(help: .value("path", "The file of the secret that the issuer gave it."))
    var oidcClientSecretFile: String?

    @Option(help: .value("url", "The address that browsers open: https://HOST."))
    var publicURL: String?

    @Flag(
        help: "Send browsers pages at the public URL: /web, /p and, with --contests, /contests."
    )
    var web = false

    @Option(help: "The largest number of open connections: 1 to 65536, else 14000.")
    var connections: String?

    @Option(help: "The largest number of commands that wait for a commit: 1 to 65536, else 8192.")
    var queue: String?

    @Option(help: "The calls a second of one device or login: 1 to 10000, else 50.")
    var callsPerSecond: String?

    @Option(
        help: "The sessions and wallets that one device or login may follow: 1 to 12000, else 64."
    )
    var streamsPerLogin: String?

    @Option(help: "The open sessions of one payee: 1 to 100000, else 1000.")
    var sessionsPerPayee: String?

    @Option(help: "Seconds to go on answering after a stop signal: 0 to 60, else 0.")
    var drainSeconds: String?

    @Option(
        help: .value(
            "address",
            "A trusted proxy or network, whose X-Forwarded-For counts. May be given several times."
        )
    )
    var trustedProxy: [String] = []

    @Flag(help: "Show the metrics to everybody, not to this machine only.")
    var openMetrics = false

    @Option(help: "The lifetime of a device's access token: 1 to 900 seconds, else 600.")
    var tokenSeconds: String?

    @OptionGroup(title: "Stripe") var stripe: StripeFlags
    @OptionGroup(title: "Stripe") var stripeService: StripeServiceFlags

    @Flag(help: "Let users organise and enter contests. Stakes for prizes need a lawyer.")
    var contests = false

    @Option(
        help: "The house's part of what organisers keep, in hundredths of a percent: else 0."
    )
    var contestCommissionBps: String?

    @Option(help: "trace, debug, info, notice, warning, error or critical.")
    var logLevel: String?

    /// The option values by setting key.
    private var flags: [String: String?] {
        [
            "listen": listen, "database": database.text, "dev": dev ? "true" : nil,
            "dev_opening_balance": devOpeningBalance, "oidc_issuer": oidcIssuer,
            "oidc_audience": oidcAudience, "oidc_jwks": oidcJwks,
            "oidc_client_id": oidcClientID, "oidc_client_secret_file": oidcClientSecretFile,
            "public_url": publicURL, "web": web ? "true" : nil, "connections": connections,
            "queue": queue, "calls_per_second": callsPerSecond,
            "streams_per_login": streamsPerLogin, "sessions_per_payee": sessionsPerPayee,
            "drain_seconds": drainSeconds,
            "trusted_proxy": trustedProxy.isEmpty ? nil : trustedProxy.joined(separator: ","),
            "open_metrics": openMetrics ? "true" : nil, "token_seconds": tokenSeconds,
            "contests": contests ? "true" : nil,
            "contest_commission_bps": contestCommissionBps, "log_level": logLevel,
        ].merging(stripe.values) { $1 }.merging(stripeService.values) { $1 }
    }

    func run() async throws {
        let settings = try ServerSettings(flags: flags)
        let options = try ServerOptions(settings)
        do throws(LocalTimeZoneFailure) { try LocalTimeZone.require() } catch {
            throw ServerFailure(.configuration, error.sentence, fix: error.fix)
        }
        let logger = Logger(label: "gotchu-server") { _ in
            StandardErrorLogHandler(level: settings.logLevel)
        }
        let variables = ProcessInfo.processInfo.environment.keys
        for name in ServerSettings.unknownVariables(among: variables) {
            logger.warning("No setting has this variable.", metadata: ["name": "\(name)"])
        }
        if options.developmentOpening == nil, options.openID == nil {
            logger.notice(
                "Only registered devices can log in: there is no --oidc-issuer and no --dev."
            )
        }
        let server = Server(options: options, logger: logger)
        let notifier = SystemdNotifier.current
        do {
            try await server.run(
                ready: { port in
                    let place = "listening on \(options.listen.url(port: port))"
                    Console.output(place)
                    notifier.ready(status: place)
                },
                stopping: notifier.stopping
            )
        } catch {
            throw ServerFailure(error, at: options.listen) ?? error
        }
    }
}
