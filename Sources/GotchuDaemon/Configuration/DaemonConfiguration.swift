import GotchuCore
import Logging
import PaymentClient

/// Everything that gotchud is told, resolved: flag, else environment, else file, else default.
struct DaemonConfiguration: Sendable {
    var socketPath: String
    var stateDirectory: String
    var server: ServerURL
    /// Where the token is read from; `nil`: the credential `token` of systemd, else the state
    /// folder.
    var tokenFile: String?
    var radio: RadioSpecification
    var serviceUUID: UInt16
    /// How long an open request keeps its EID; `nil`: to its end.
    var eidLifetime: Duration?
    var group: String
    var cashierUserIDs: Set<UInt32>
    var spenderUserIDs: Set<UInt32>
    var proximity: ProximityPolicy
    /// Whether the adapter may be switched off and on when nothing else brings the scan back.
    var canPowerCycle: Bool
    var logLevel: Logger.Level

    /// Builds it from the three sources.
    ///
    /// - Parameter environment: The process's environment.
    init(
        flags: ConfigurationFlags,
        environment: [String: String],
        file: ConfigurationFile
    ) throws(ConfigurationError) {
        let sources = ConfigurationSources(flags: flags, environment: environment, file: file)
        socketPath = try sources.socketPath()
        stateDirectory = try sources.stateDirectory()
        server = try sources.server()
        tokenFile = try sources.tokenFile()
        radio = try sources.radio()
        serviceUUID = try sources.serviceUUID()
        eidLifetime = try sources.eidLifetime()
        group = sources.group()
        cashierUserIDs = try sources.userIDs(
            \.cashierUserIDs,
            "GOTCHU_CASHIER_UIDS",
            file.cashierUIDs
        )
        spenderUserIDs = try sources.userIDs(
            \.spenderUserIDs,
            "GOTCHU_SPENDER_UIDS",
            file.spenderUIDs
        )
        proximity = try sources.proximity()
        canPowerCycle = file.powerCycle ?? false
        logLevel = try sources.logLevel()
    }

    /// Every environment variable that sets something.
    static let variables: Set = [
        "GOTCHU_CONFIG", "GOTCHU_SOCKET", "GOTCHU_STATE", "GOTCHU_SERVER", "GOTCHU_TOKEN_FILE",
        "GOTCHU_RADIO", "GOTCHU_CASHIER_UIDS", "GOTCHU_SPENDER_UIDS", "GOTCHU_LOG_LEVEL",
        "GOTCHU_GROUP", "GOTCHU_SERVICE_UUID", "GOTCHU_EID_SECONDS",
    ]

    /// Variables that look as if they set something: mostly typing errors.
    static func unknownVariables(in environment: [String: String]) -> [String] {
        environment.keys.filter { name in
            // Those of gotchu-server may be there as well.
            name.hasPrefix("GOTCHU_") && !name.hasPrefix("GOTCHU_SERVER_")
                && !variables.contains(name)
        }.sorted()
    }

    /// The group that a package makes.
    static let defaultGroup = "gotchu"
    /// The socket of a packaged installation.
    static let defaultSocketPath = "/run/gotchu/gotchud.sock"
    /// Read if it is there and no other is named.
    static let defaultFile = "/etc/gotchu/gotchud.json"
    /// The payment server of a machine that runs its own.
    static let defaultServer = "http://127.0.0.1:8080"
    /// Most requests end before this; those that wait longer cannot be followed for longer.
    static let defaultEIDSeconds = 120
    /// 0xFEED is assigned to Tile: a product ships with a number of its own.
    static let defaultServiceUUID: UInt16 = 0xFEED
}

/// The flags that have a configuration key.
struct ConfigurationFlags: Sendable {
    var socket: String?
    var state: String?
    var server: String?
    var tokenFile: String?
    var radio: String?
    var cashierUserIDs: [UInt32] = []
    var spenderUserIDs: [UInt32] = []
    var logLevel: String?
}

/// A configuration that cannot be used: where it is wrong, and what is wrong there.
struct ConfigurationError: Error, Equatable, Sendable {
    /// `--radio`, `GOTCHU_RADIO`, `/etc/gotchu/gotchud.json:3`.
    var place: String
    /// One sentence.
    var problem: String
}
