package import ArgumentParser
import FoundationEssentials
import Glibc
import GotchuAPI
import LocalAPI
import Logging
import ServiceProcess
import UnixSignals

/// The command line of gotchud.
package struct GotchudCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "gotchud",
        abstract: "Asks for payments and makes them over Bluetooth LE.",
        usage: "gotchud [options]",
        discussion: """
            EXAMPLES
              gotchud                                     as the service runs it
              gotchud --check-config                      is the configuration right?
              gotchud --socket ~/g.sock --state ~/g --radio "simulated:$HOME/air@0,0"

            Each option is also a key of the configuration file and an environment variable
            GOTCHU_…; the option wins over the variable, the variable over the file.
            """,
        version: GotchuVersion.current
    )

    @Option(
        help: "Read this file instead of \(DaemonConfiguration.defaultFile).",
        completion: .file()
    )
    var config: String?

    @Option(help: "Serve the local API on this Unix socket.", completion: .file())
    var socket: String?

    @Option(help: "Keep journal and token in this folder.", completion: .directory)
    var state: String?

    @Option(help: "The payment server, such as https://pay.example.")
    var server: String?

    @Option(
        help: "Trust the CA certificates in this PEM file beside the system's.",
        completion: .file()
    )
    var caFile: String?

    @Option(help: "Reach the payment server through this proxy: http://HOST:PORT.")
    var proxy: String?

    @Option(help: "Read the login token from this file.", completion: .file())
    var tokenFile: String?

    @Option(
        help: ArgumentHelp(
            "auto, bluez or management, :hciN, :ADDRESS or not; simulated:FOLDER@X,Y; "
                + "replay:FILE."
        ),
        completion: .list([
            "auto", "bluez", "management", "simulated:", "replay:",
        ])
    )
    var radio: String?

    @Option(
        help: "Listen to the air auto (while a program needs it), always or never.",
        completion: .list(ListenSetting.allCases.map(\.rawValue))
    )
    var listen: String?

    @Option(help: "A user id that may request payments; may be given several times.")
    var cashierUid: [String] = []

    @Option(help: "A user id that may spend; may be given several times.")
    var spenderUid: [String] = []

    @Option(help: "Serve metrics to this machine also at 127.0.0.1:PORT or [::1]:PORT.")
    var metrics: String?

    @Option(
        help: "trace, debug, info, notice, warning, error or critical.",
        completion: .list(Logger.Level.allCases.map(\.rawValue))
    )
    var logLevel: String?

    @Flag(help: "Say whether the configuration is right, and exit.")
    var checkConfig = false

    @Flag(help: "Ask the payment server once, say as JSON what came, and exit.")
    var checkServer = false

    package init() {}

    package static func main() async {
        StandardStreams.guardAll()
        await main(nil)
    }

    package func run() async throws {
        do {
            try await serve()
        } catch let exit as ExitCode {
            throw exit
        } catch {
            let failure = DaemonFailure(error)
            Console.error("gotchud: \(failure.sentence)\n\(failure.fix)")
            throw ExitCode(failure.status.rawValue)
        }
    }

    private func serve() async throws {
        // SIGHUP is trapped first: its default action ends the process.
        let hangups = await UnixSignalsSequence(trapping: .sighup)
        // New files are private unless a mode is set explicitly.
        umask(0o077)
        let flags = flags
        let config = config
        try LocalTimeZone.require()
        let reread = { @Sendable () throws(ConfigurationError) in
            try Self.configuration(flags: flags, config: config)
        }
        let configuration = try reread()
        let ring = LogRing()
        LoggingSystem.bootstrap { _ in
            StandardErrorLogHandler(level: configuration.logLevel, ring: ring)
        }
        let logger = Logger(label: "gotchud")
        let radio = try configuration.radio.make(configuration, logger: logger)
        let http = try configuration.httpConfiguration()
        configuration.warn(of: ProcessInfo.processInfo.environment, logger)
        if checkConfig {
            try configuration.requireTokenFile()
            Console.output("The configuration is right.")
            return
        }
        if checkServer {
            return try await ServerProbe(route: configuration.serverRoute, http: http).run()
        }
        let files = OpenFiles.raiseLimit(toHold: LocalServer.connectionLimit)
        if files < LocalServer.connectionLimit {
            logger.warning(
                "The system lets gotchud open fewer files than its socket can take connections",
                metadata: ["files": "\(files)", "wanted": "\(LocalServer.connectionLimit)"]
            )
        }
        do throws(StateFolder.Failure) {
            try StateFolder.prepare(configuration.stateDirectory)
        } catch {
            throw DaemonFailure(error)
        }
        let lock = try Self.lock(configuration.socketPath)
        let daemon = try Daemon(
            configuration,
            radio: radio,
            http: http,
            readConfiguration: reread,
            credentials: ProcessInfo.processInfo.environment["CREDENTIALS_DIRECTORY"],
            hangups: hangups,
            ring: ring,
            logger: logger
        )
        try await daemon.run()
        _ = consume lock
    }

    private static func lock(_ socketPath: String) throws(DaemonFailure) -> SocketLock {
        do throws(SocketLock.Failure) {
            return try SocketLock(socketPath: socketPath)
        } catch {
            throw DaemonFailure(error, socketPath: socketPath)
        }
    }

    /// The command line's options by the keys of their settings.
    private var flags: [String: String?] {
        [
            "socket": socket, "state": state, "server": server, "ca_file": caFile, "proxy": proxy,
            "token_file": tokenFile, "radio": radio, "listen": listen, "metrics": metrics,
            "log_level": logLevel,
            "cashier_uids": cashierUid.isEmpty ? nil : cashierUid.joined(separator: ","),
            "spender_uids": spenderUid.isEmpty ? nil : spenderUid.joined(separator: ","),
        ]
    }

    private static func configuration(
        flags: [String: String?],
        config: String?
    ) throws(ConfigurationError) -> DaemonConfiguration {
        let environment = ProcessInfo.processInfo.environment
        let path = config ?? environment["GOTCHU_CONFIG"]
        let file: ConfigurationFile
        if let path {
            file = try ConfigurationFile(path: path)
        } else if ConfigurationFile.exists(DaemonConfiguration.defaultFile) {
            file = try ConfigurationFile(path: DaemonConfiguration.defaultFile)
        } else {
            file = ConfigurationFile()
        }
        return try DaemonConfiguration(flags: flags, environment: environment, file: file)
    }
}
