import BlueZRadio
import Glibc
import GotchuAPI
import GotchuCore
import LocalAPI
import Logging
import Pages
import PaymentClient
import Radio
import ServiceProcess

/// Everything that gotchud is told, resolved: flag, else environment, else file, else default.
struct DaemonConfiguration: Settings {
    var socketPath = SocketPath.system
    var stateDirectory = ""
    /// At first that of a machine that runs its own.
    var server = Self.defaultServer
    /// A PEM file of certificates that are trusted beside the system's.
    var caFile: String?
    var proxy: ProxyURL?
    /// The file of the token; `nil`: the credential `token` of systemd, else the state folder.
    var tokenFile: String?
    var radio = RadioSpecification.bluez(adapter: nil, transport: .best)
    var listen = ListenSetting.auto
    /// 0xFEED is assigned to Tile: a product ships with a number of its own.
    var serviceUUID: UInt16 = 0xFEED
    /// The time for which an open request keeps its EID; `nil`: to its end. Most requests end
    /// before this; those that wait longer cannot be followed for longer.
    var eidLifetime: Duration? = .seconds(120)
    var group = Self.defaultGroup
    var observerUserIDs: Set<UInt32> = []
    /// Beside the user of the display's package.
    var viewerUserIDs: Set<UInt32> = []
    var cashierUserIDs: Set<UInt32> = []
    var spenderUserIDs: Set<UInt32> = []
    var proximity = ProximityPolicy()
    /// A Boolean that lets the adapter be switched off and on when nothing else brings the scan
    /// back.
    var canPowerCycle = false
    /// The address on which metrics are served beside the socket; `nil`: none.
    var metrics: LoopbackAddress?
    var screens = ScreenSettings()
    var logLevel = Logger.Level.info

    static let prefix = "GOTCHU_"

    /// Only who is listed may change while the daemon runs. The socket keeps the group that it was
    /// made for, by which `gotchu-ctl doctor` goes.
    static let table: [Setting<Self>] = [
        Setting("socket", \.socketPath, .socketPath),
        Setting("state", \.stateDirectory, .path("The state folder's path begins with /.")),
        Setting("server", \.server, .own),
        Setting("ca_file", \.caFile, .path("The path of a file of CA certificates begins with /.")),
        Setting("proxy", \.proxy, .own),
        Setting("token_file", \.tokenFile, .tokenFile),
        Setting("radio", \.radio, .own),
        Setting("listen", \.listen, .own),
        Setting("service_uuid", \.serviceUUID, .serviceUUID),
        Setting("eid_seconds", \.eidLifetime, .eidSeconds),
        Setting("group", \.group, .text),
        Setting("viewer_uids", \.viewerUserIDs, .userIDs, isReloaded: true),
        Setting("observer_uids", \.observerUserIDs, .userIDs, isReloaded: true),
        Setting("cashier_uids", \.cashierUserIDs, .userIDs, flag: "cashier-uid", isReloaded: true),
        Setting("spender_uids", \.spenderUserIDs, .userIDs, flag: "spender-uid", isReloaded: true),
        // Sets the whole policy: before what sets a part of it.
        Setting("proximity", \.proximity, .proximity, variable: false),
        Setting("accept_unknown_rssi", \.proximity.acceptsUnknownRSSI, .boolean, variable: false),
        Setting("power_cycle", \.canPowerCycle, .boolean, variable: false),
        Setting("metrics", \.metrics, .own),
        Setting("screens.display", \.screens.display, .screenAddress),
        Setting("screens.till", \.screens.till, .screenAddress),
        Setting("screens.shop", \.screens.looks.shop, .shopName),
        Setting("screens.logo", \.screens.logo, .path("A logo's path begins with /.")),
        Setting("screens.languages", \.screens.looks.languages, .languages),
        Setting("screens.text_scale", \.screens.looks.textScale, .textScale),
        Setting("screens.antenna", \.screens.looks.antenna, .own),
        Setting("screens.motion", \.screens.looks.hasMotion, .boolean),
        Setting("screens.sound", \.screens.looks.hasSound, .boolean),
        Setting("log_level", \.logLevel, .logLevel),
    ]

    /// The user whose browser shows the display, which a package makes.
    static let displayUser = "gotchu-display"
    /// The group that a package makes.
    static let defaultGroup = "gotchu"
    /// Read if it is there and no other is named.
    static let defaultFile = "/etc/gotchu/gotchud.json"
    private static let defaultServer: ServerURL = {
        guard let server = ServerURL("http://127.0.0.1:8080") else {
            preconditionFailure("this is the URL of a server")
        }
        return server
    }()
}

extension DaemonConfiguration {
    /// Builds it from the three sources.
    ///
    /// - Parameters:
    ///   - flags: The command line's options by key.
    ///   - environment: The process's environment.
    init(
        flags: [String: String?] = [:],
        environment: [String: String],
        file: ConfigurationFile
    ) throws(ConfigurationError) {
        self.init()
        try resolve(
            from: SettingSources(
                flags: flags,
                environment: environment,
                file: file.settings,
                usual: [
                    "socket": SocketPath.personal(runtimeFolder: environment["XDG_RUNTIME_DIR"]),
                    "state": environment["STATE_DIRECTORY"] ?? Self.stateDirectory(environment),
                ]
            )
        )
        guard !stateDirectory.isEmpty else {
            throw ConfigurationError(
                place: "state",
                problem: "There is no HOME to keep the journal in: name a folder with --state."
            )
        }
    }

    /// Variables that look as if they set something: mostly typing errors.
    static func unknownVariables(in environment: [String: String]) -> [String] {
        unknownVariables(among: environment.keys) { name in
            // Those of gotchu-server may be there as well.
            name.hasPrefix(prefix) && !name.hasPrefix("GOTCHU_SERVER_") && name != "GOTCHU_CONFIG"
        }
    }

    /// The folder of a person's own daemon (XDG Base Directory Specification); root's is the
    /// system's. `nil` where nothing says where that person is at home.
    private static func stateDirectory(_ environment: [String: String]) -> String? {
        if geteuid() == 0 { return "/var/lib/gotchu" }
        if let folder = environment["XDG_STATE_HOME"], folder.hasPrefix("/") {
            return folder + "/gotchu"
        }
        guard let home = environment["HOME"], home.hasPrefix("/") else { return nil }
        return home + "/.local/state/gotchu"
    }
}
