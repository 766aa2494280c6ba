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

            Prints one line "listening on http://..." when it is ready. Without --dev nobody can \
            log in here: only tokens signed with the secret beside the database are accepted.
            """
    )

    @Option(
        help: "Where to listen: HOST:PORT. Port 0 lets the system choose one.",
        transform: { text in
            guard let address = ListenAddress(text) else {
                throw ValidationError("an address is written as HOST:PORT")
            }
            return address
        }
    )
    var listen: ListenAddress = .usual

    @OptionGroup var database: DatabaseOption

    @Flag(help: "Let anybody log in with an e-mail address. Only on a loopback address.")
    var dev = false

    @Option(help: "With --dev: what a new wallet starts with, in cents.")
    var devOpeningBalance: Int64?

    @Option(
        help: "How much to log: debug, info, notice, warning or error.",
        transform: { text in
            guard let level = Logger.Level(rawValue: text) else {
                throw ValidationError("unknown level \(text)")
            }
            return level
        }
    )
    var logLevel: Logger.Level = .info

    func validate() throws {
        guard devOpeningBalance == nil || dev else {
            throw ValidationError("--dev-opening-balance goes with --dev")
        }
        guard (0...1_000_000_000_000).contains(devOpeningBalance ?? 0) else {
            throw ValidationError("--dev-opening-balance must be from 0 to 1000000000000")
        }
    }

    func run() async throws {
        try await Failures.reported {
            let options = try ServerOptions(
                listen: listen,
                database: database.database,
                developmentOpening: dev ? devOpeningBalance ?? 0 : nil
            )
            let logger = Logger(label: "gotchu-server") { [logLevel] _ in
                StandardErrorLogHandler(level: logLevel)
            }
            if !dev {
                logger.notice("Nobody can log in at this server: it was started without --dev.")
            }
            let server = Server(options: options, logger: logger)
            let notifier = SystemdNotifier.current
            try await server.run(
                ready: { port in
                    let place = "listening on \(options.listen.url(port: port))"
                    Console.output(place)
                    notifier.ready(status: place)
                },
                stopping: notifier.stopping
            )
        }
    }
}
