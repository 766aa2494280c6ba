internal import ArgumentParser
internal import Logging
internal import ServiceProcess

/// `gotchu-server [serve]`.
struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Serves payments until it is told to stop.",
        discussion: """
            Examples:
              gotchu-server --listen 127.0.0.1:8080 --database sqlite:shop.db
              gotchu-server --listen 127.0.0.1:0 --database sqlite:try.db --dev \
            --dev-opening-balance 10000

              gotchu-server --database sqlite:shop.db --oidc-issuer https://id.example \
            --oidc-audience gotchu --oidc-jwks https://id.example/jwks.json

            Prints one line "listening on http://..." when it is ready. Each option can also be \
            given as a variable: GOTCHU_SERVER_LISTEN for --listen, and so on. Without --dev only \
            tokens of the OpenID issuer and of registered devices are good.
            """
    )

    @Option(
        help: "Where to listen: HOST:PORT, else 127.0.0.1:8080. With port 0 the system chooses.",
        transform: { text in
            guard let address = ListenAddress(text) else {
                throw ValidationError(
                    "an address is written as HOST:PORT, the port from 0 to 65535"
                )
            }
            return address
        }
    )
    var listen: ListenAddress?

    @OptionGroup var database: DatabaseOption

    @Flag(help: "Let anybody log in with an e-mail address. Only on a loopback address.")
    var dev = false

    @Option(help: "With --dev: what a new wallet starts with, in cents.")
    var devOpeningBalance: Int64?

    @OptionGroup var openID: OpenIDOptions

    @OptionGroup var limits: LimitOptions

    @Option(help: "How long a device's access token is good: 1 to 900 seconds, else 600.")
    var tokenSeconds: Int64?

    @Option(
        help: "How much to log: debug, info, notice, warning or error.",
        transform: { text in
            guard let level = Logger.Level(rawValue: text) else {
                throw ValidationError("unknown level \(text)")
            }
            return level
        }
    )
    var logLevel: Logger.Level?

    func validate() throws {
        guard Self.openingBalances.contains(devOpeningBalance ?? 0) else {
            throw ValidationError("--dev-opening-balance must be from 0 to 1000000000000")
        }
        guard Self.tokenLifetimes.contains(tokenSeconds ?? Self.usualTokenLifetime) else {
            throw ValidationError("--token-seconds must be from 1 to 900")
        }
    }

    private static let openingBalances: ClosedRange<Int64> = 0...1_000_000_000_000
    private static let tokenLifetimes: ClosedRange<Int64> = 1...900
    private static let usualTokenLifetime: Int64 = 600

    /// What the command line says, else the environment, else what is usual.
    private var options: ServerOptions {
        get throws {
            let isDevelopment = try dev || Variable.dev.isOn
            let balance =
                try devOpeningBalance
                ?? Variable.devOpeningBalance.value("from 0 to 1000000000000") { text in
                    Int64(text).flatMap { Self.openingBalances.contains($0) ? $0 : nil }
                }
            guard balance == nil || isDevelopment else {
                throw ServerFailure(.usage, "--dev-opening-balance goes with --dev.")
            }
            let seconds =
                try tokenSeconds
                ?? Variable.tokenSeconds.value("from 1 to 900") { text in
                    Int64(text).flatMap { Self.tokenLifetimes.contains($0) ? $0 : nil }
                } ?? Self.usualTokenLifetime
            return try ServerOptions(
                listen: try listen
                    ?? Variable.listen.value("written as HOST:PORT") { ListenAddress($0) }
                    ?? .usual,
                database: database.database,
                developmentOpening: isDevelopment ? balance ?? 0 : nil,
                openID: openID.settings,
                tokenLifetime: .seconds(seconds),
                limits: limits.limits
            )
        }
    }

    func run() async throws {
        try await Failures.reported {
            let options = try self.options
            let level =
                try logLevel
                ?? Variable.logLevel.value("a level of the log") { Logger.Level(rawValue: $0) }
                ?? .info
            let logger = Logger(label: "gotchu-server") { _ in
                StandardErrorLogHandler(level: level)
            }
            for name in Variable.unknown {
                logger.warning("A variable means nothing here.", metadata: ["name": "\(name)"])
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
}
