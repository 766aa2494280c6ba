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

/// The resolved configuration of gotchud: flag, else environment, else file, else default.
struct DaemonConfiguration: Settings {
    var socketPath = SocketPath.system
    var stateDirectory = ""
    /// The default is a server on the same machine.
    var server = Self.defaultServer
    /// A PEM file of certificates that are trusted in addition to the system's.
    var caFile: String?
    var proxy: ProxyURL?
    /// The token file; `nil` for the systemd credential `token`, else the state folder.
    var tokenFile: String?
    var radio = RadioSpecification.bluez(adapter: nil, transport: .best)
    var listen = ListenSetting.auto
    /// 0xFEED is assigned to Tile: a product must use its own number.
    var serviceUUID: UInt16 = 0xFEED
    /// The lifetime of an open request's EID; `nil` for the request's whole life. Most requests end
    /// before this; those that wait longer cannot be tracked for longer.
    var eidLifetime: Duration? = .seconds(120)
    var group = Self.defaultGroup
    var observerUserIDs: Set<UInt32> = []
    /// In addition to the user of the display's package.
    var viewerUserIDs: Set<UInt32> = []
    var cashierUserIDs: Set<UInt32> = []
    var spenderUserIDs: Set<UInt32> = []
    var proximity = ProximityPolicy()
    /// A Boolean that is true if the adapter may be switched off and on when nothing else restores
    /// the scan.
    var canPowerCycle = false
    /// The address on which metrics are served in addition to the socket; `nil` for none.
    var metrics: LoopbackAddress?
    var screens = ScreenSettings()
    var logLevel = Logger.Level.info

    static let prefix = "GOTCHU_"

    /// Only the lists of users can change while the daemon runs. The socket keeps the group that it
    /// was created with, which `gotchu-ctl doctor` relies on.
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
        // Sets the whole policy, so it precedes the settings of its parts.
        Setting("proximity", \.proximity, .proximity, variable: false),
        Setting("accept_unknown_rssi", \.proximity.acceptsUnknownRSSI, .boolean, variable: false),
        Setting("power_cycle", \.canPowerCycle, .boolean, variable: false),
        Setting("metrics", \.metrics, .own),
        Setting("screens.display", \.screens.display, .screenAddress),
        Setting("screens.till", \.screens.till, .screenAddress),
        Setting("screens.shop", \.screens.appearance.shop, .shopName),
        Setting("screens.logo", \.screens.logo, .path("A logo's path begins with /.")),
        Setting("screens.languages", \.screens.appearance.languages, .languages),
        Setting("screens.text_scale", \.screens.appearance.textScale, .textScale),
        Setting("screens.antenna", \.screens.appearance.antenna, .own),
        Setting("screens.motion", \.screens.appearance.hasMotion, .boolean),
        Setting("screens.sound", \.screens.appearance.hasSound, .boolean),
        Setting("log_level", \.logLevel, .logLevel),
    ]

    /// The user whose browser shows the display; a package creates it.
    static let displayUser = "gotchu-display"
    /// The group that a package creates.
    static let defaultGroup = "gotchu"
    /// Read if it exists and no other file is named.
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
                defaults: [
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

    /// Returns variables that look like settings and are none: mostly typing errors.
    static func unknownVariables(in environment: [String: String]) -> [String] {
        unknownVariables(among: environment.keys) { name in
            // Those of gotchu-server may be set as well.
            name.hasPrefix(prefix) && !name.hasPrefix("GOTCHU_SERVER_") && name != "GOTCHU_CONFIG"
        }
    }

    /// The state folder of a user's own daemon (XDG Base Directory Specification); for root, the
    /// system's. `nil` if the user's home is not known.
    private static func stateDirectory(_ environment: [String: String]) -> String? {
        if geteuid() == 0 { return "/var/lib/gotchu" }
        if let folder = environment["XDG_STATE_HOME"], folder.hasPrefix("/") {
            return folder + "/gotchu"
        }
        guard let home = environment["HOME"], home.hasPrefix("/") else { return nil }
        return home + "/.local/state/gotchu"
    }
}
